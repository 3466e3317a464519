import { writeFile } from 'node:fs/promises';
import type { JsonObject } from '@whetstone/events';
import type { Lab } from './lab.ts';
import { maskValues } from './mask-values.ts';

/** Writes the structured answer of a case, if any, with secrets masked. Resolves with notes for a reader. */
export async function keepAnswer(
  data: JsonObject | undefined,
  file: string,
  { mask }: Lab,
): Promise<string[]> {
  if (!data) return [];
  const written = JSON.stringify(data, null, 2);
  // Names of fields are masked too, because the agent chose them.
  const kept = mask.text(JSON.stringify(maskValues(data, mask), null, 2));
  await writeFile(file, `${kept}\n`, { mode: 0o600 });
  return kept === written ? [] : ['output-data.json: secrets were masked'];
}
