import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeEach } from '@whetstone/sandbox/files';
import { z } from 'zod';
import { MINING_JOURNAL } from '../config/read-task-file.ts';
import { METHODS, type Method } from './methods.ts';

/** One candidate that was tried, as a line of `mined.jsonl`. */
const entrySchema = z.object({
  method: z.enum(METHODS),
  /** Of the candidate: a commit, or the hash of code that was taken out. */
  id: z.string(),
  /** Hash of what else decides the result: the settings and the rules. */
  key: z.string(),
  subject: z.string(),
  /** `broken`: the set-up or the runner failed, which says nothing about the candidate. It is tried again next time. */
  status: z.enum(['task', 'refused', 'broken']),
  /** The id of the task. */
  task: z.string().optional(),
  grade: z.string().optional(),
  reason: z.string().optional(),
  evidence: z.string().optional(),
  /** Tests that are left out of the task. */
  excluded: z.array(z.object({ test: z.string(), reason: z.string() })).optional(),
  /** Set where the tests of the task lack something without the installation scripts of the project itself. */
  needs_scripts: z.boolean().optional(),
  seconds: z.number(),
});

export type MiningEntry = z.infer<typeof entrySchema>;

/** Remembers which candidates were tried, so that mining goes on where it ended. */
export type MiningJournal = {
  /** The last entry of a candidate. */
  entryOf(method: Method, id: string): MiningEntry | undefined;
  add(entry: MiningEntry): Promise<void>;
  /** Whether one of the tasks does. */
  needsScripts(): boolean;
};

/** Whether tasks of a folder need the installation scripts of their project. */
export async function needsScripts(folder: string): Promise<boolean> {
  const { entries } = await readEntries(join(folder, MINING_JOURNAL));
  return isAnyInNeed(entries);
}

const isAnyInNeed = (entries: ReadonlyMap<string, MiningEntry>): boolean =>
  [...entries.values()].some(({ needs_scripts: needs }) => needs === true);

/** A line that was cut off is as if its candidate had not been tried. */
async function readEntries(file: string) {
  const text = await readFile(file, 'utf8').catch(() => '');
  const entries = new Map<string, MiningEntry>();
  for (const line of text.split('\n')) {
    const entry = entrySchema.safeParse(parsedJson(line));
    if (entry.success) entries.set(keyOf(entry.data), entry.data);
  }
  return { text, entries };
}

/** Opens the journal of a folder of tasks. */
export async function openJournal(folder: string): Promise<MiningJournal> {
  const file = join(folder, MINING_JOURNAL);
  makeEach(folder);
  const { text, entries } = await readEntries(file);
  if (text !== '' && !text.endsWith('\n')) await appendFile(file, '\n');
  return {
    needsScripts: () => isAnyInNeed(entries),
    entryOf: (method, id) => entries.get(keyOf({ method, id })),
    async add(entry) {
      entries.set(keyOf(entry), entry);
      await appendFile(file, `${JSON.stringify(entry)}\n`);
    },
  };
}

const keyOf = ({ method, id }: Pick<MiningEntry, 'method' | 'id'>): string => `${method} ${id}`;

function parsedJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
