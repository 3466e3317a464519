import { present } from '@whetstone/events/present';
import { z } from 'zod';
import type { TaskTests } from './config.ts';
import { readNamedText } from './existing-path.ts';
import type { RawTask } from './schema.ts';
import type { Spot } from './spot.ts';

type RawTests = NonNullable<NonNullable<RawTask['validation']>['tests']>;

const idList = z.array(z.string()).min(1);

/** The tests of a task. The ids stand there, or in a JSON file that is named. */
export async function readTests(
  { mustPass: given, directory, ...tests }: RawTests,
  spot: Spot,
): Promise<TaskTests | undefined> {
  const at = spot.at('must_pass');
  const mustPass = typeof given === 'string' ? await readIds(given, at) : given;
  return mustPass && { ...tests, mustPass, ...present({ directory }) };
}

async function readIds(file: string, spot: Spot): Promise<string[] | undefined> {
  const source = await readNamedText(file, spot);
  if (!source) return undefined;
  const parsed = idList.safeParse(parsedJson(source.text));
  if (!parsed.success) spot.error(`is not a JSON list of at least one test id: ${source.file}`);
  return parsed.data;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
