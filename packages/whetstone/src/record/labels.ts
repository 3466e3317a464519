import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { parseJson } from '@whetstone/events';
import { z } from 'zod';
import { runLayout } from './layout.ts';
import { isAbsent, unreadable } from './read-run.ts';

/**
 * A line of `labels.jsonl`: what a person says about a case. It is not part of the result. `whetstone agreement` reads the
 * same file.
 */
const labelSchema = z.object({
  /** Of the case. */
  id: z.string(),
  human: z.enum(['passed', 'failed']),
  note: z.string().exactOptional(),
  at: z.string(),
});

export type Label = z.infer<typeof labelSchema>;

/**
 * The labels of a run, in the order in which they were given. Lines of another form are left out.
 * @throws WhetstoneError `run-unreadable`
 */
export async function readLabels(directory: string): Promise<Label[]> {
  const { labels } = runLayout(directory);
  const text = await readFile(labels, 'utf8').catch((error: unknown) => {
    if (isAbsent(error)) return '';
    throw unreadable(labels, error);
  });
  return text.split('\n').flatMap((line) => labelSchema.safeParse(parseJson(line)).data ?? []);
}

/** Gives a case a label in place of the one that it has; `undefined` takes it away. Replaces the file in one step. */
export async function writeLabel(
  directory: string,
  caseId: string,
  label: Omit<Label, 'id'> | undefined,
): Promise<void> {
  const { labels: file } = runLayout(directory);
  const others = (await readLabels(directory)).filter(({ id }) => id !== caseId);
  const all = label === undefined ? others : [...others, { id: caseId, ...label }];
  const fresh = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(fresh, all.map((one) => `${JSON.stringify(one)}\n`).join(''), { mode: 0o600 });
    await rename(fresh, file);
  } finally {
    await rm(fresh, { force: true });
  }
}
