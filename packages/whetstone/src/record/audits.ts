import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { makeEach } from '@whetstone/sandbox/files';
import { z } from 'zod';
import { masksSchema } from './row.ts';

const tallySchema = z.object({ passed: z.number().int(), runs: z.number().int() });

/** A changed solution. `what`: the change in words, with its place. `why`: what failed; `null`: it passed. */
const changedSchema = z.object({ name: z.string(), what: z.string(), why: z.string().nullable() });

/** A defect that was shown. `kind`: a key of `findingKinds`. */
const findingSchema = z.object({
  kind: z.string(),
  task: z.string(),
  subject: z.string(),
  what: z.string(),
  fix: z.string(),
});

/** What an audit found about one task. `runs` are those that could be judged. `null`: it was not played. */
export const taskAuditSchema = z.object({
  task: z.string(),
  /** How its tests were masked in each grading, or why they were not. Audits of older versions have none. */
  masks: z
    .union([masksSchema, z.object({ why: z.string() })])
    .nullable()
    .optional(),
  oracle: tallySchema.nullable(),
  nop: tallySchema.nullable(),
  cheats: tallySchema.extend({ scored: z.array(z.string()) }).nullable(),
  /** `passed`: mutants that nothing tells from the gold patch. `text`: how many were made without a syntax tree. */
  mutants: tallySchema.extend({ text: z.number().int(), survivors: z.array(changedSchema) }).nullable(),
  /** `passed`: refactors that pass, as they should. */
  refactors: tallySchema.extend({ rejected: z.array(changedSchema) }).nullable(),
  /** From 0 to 100; `null`: too little was played. */
  integrity: z.number().nullable(),
  findings: z.array(findingSchema),
  seconds: z.number(),
});

export type TaskAudit = z.infer<typeof taskAuditSchema>;

/** An audit as it is kept. `fingerprint` and `commit` are those of the manifest of a run of the same task. */
const storedAuditSchema = taskAuditSchema.extend({
  schema_version: z.literal('1'),
  fingerprint: z.string(),
  commit: z.string(),
  sandbox: z.string(),
  audited_at: z.string(),
});

export type StoredAudit = z.infer<typeof storedAuditSchema>;

const FOLDER = 'audits';

/** Where the audit of one task is kept. `key` covers all that it depends on. */
export const auditFolder = (outputDir: string, key: string): string => join(outputDir, FOLDER, key);

export async function writeAudit(folder: string, audit: StoredAudit): Promise<void> {
  makeEach(folder);
  await writeFile(join(folder, 'audit.json'), `${JSON.stringify(audit, null, 2)}\n`);
}

/** All audits below an output directory. A file that cannot be read is left out. */
export async function readAudits(outputDir: string): Promise<StoredAudit[]> {
  const names = await readdir(join(outputDir, FOLDER)).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  });
  const read = names.map(async (name) => {
    const text = await readFile(join(outputDir, FOLDER, name, 'audit.json'), 'utf8').catch(() => '');
    return storedAuditSchema.safeParse(parseJson(text)).data;
  });
  return (await Promise.all(read)).flatMap((audit) => audit ?? []);
}

/** What was graded, one line for each, so that a stopped audit goes on where it ended. */
export async function openSteps(folder: string): Promise<{
  get(name: string): unknown;
  add(name: string, value: unknown): Promise<void>;
}> {
  const file = join(folder, 'steps.jsonl');
  makeEach(folder);
  const text = await readFile(file, 'utf8').catch(() => '');
  const steps = new Map<string, unknown>();
  for (const line of text.split('\n')) {
    const step = parseJson(line);
    if (Array.isArray(step) && typeof step[0] === 'string') steps.set(step[0], step[1]);
  }
  if (text !== '' && !text.endsWith('\n')) await appendFile(file, '\n');
  return {
    get: (name) => steps.get(name),
    async add(name, value) {
      steps.set(name, value);
      await appendFile(file, `${JSON.stringify([name, value])}\n`);
    },
  };
}
