import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { z } from 'zod';
import { hashJson } from '../plan/hash-json.ts';
import type { Plan, PlannedCase } from '../plan/plan.ts';
import { type ReadRun, readRun } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { version } from '../version.ts';

/** Which stored results count: all but errors, only those that passed, or none. */
export type ReusePolicy = 'results' | 'passed' | 'none';

/**
 * What a planned case has: a result of an earlier run, or the reason why it has to run. `isStored`: there is a result of
 * the same work, but not one that counts.
 */
export type Reuse = { row: CaseRow; directory: string } | { why: string; isStored?: true };

/** `reusable.jsonl` beside the runs: where the result of each identity is. The runs themselves have the results. */
const entrySchema = z.object({
  identity: z.string(),
  run_id: z.string(),
  case_id: z.string(),
  /** Says in words what has changed since. */
  parts: z.record(z.string(), z.string()),
});
type Entry = z.infer<typeof entrySchema>;

const indexFile = (outputDir: string): string => join(outputDir, 'reusable.jsonl');

/** Everything that the result of a case depends on, part by part: each part is the sha256 of its content. */
function partsOf(
  plan: Plan,
  planned: PlannedCase,
  versions: Versions,
  around: string,
): Record<string, string> {
  const agent = plan.agents.find(({ name }) => name === planned.agent);
  const task = plan.tasks.find(({ id }) => id === planned.task);
  const variant = plan.variants.find(({ name }) => name === planned.variant);
  return {
    'the agent': agent?.fingerprint ?? '',
    'the version of the agent': String(versions.get(planned.agent) ?? null),
    'the eval': task?.fingerprint ?? '',
    'the commit': task?.commit ?? '',
    'the variant': variant?.fingerprint ?? '',
    'the version of Whetstone': version,
    'the installed packages': around,
    // Also covers the sandbox and the gateway.
    'the sandbox or the gateway': planned.fingerprint,
  };
}

type Versions = ReadonlyMap<string, string | null>;
type Input = { plan: Plan; outputDir: string; root: string; versions: Versions };

const LOCKS = ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock'];

/** The packages of a project, which the code of its agents and evals may import. */
async function hashPackages(root: string): Promise<string> {
  const read = (name: string) => readFile(join(root, name), 'utf8').catch(() => null);
  return hashJson(await Promise.all(['package.json', ...LOCKS].map(read)));
}

const nameOf = ({ agent, task, variant, trial }: PlannedCase): string =>
  hashJson({ agent, task, variant, trial });

/** For each case of a plan, in order, the stored result of the same work, or why it has to run. */
export async function findReusable(input: Input, policy: ReusePolicy): Promise<ReadonlyMap<string, Reuse>> {
  const { plan, outputDir, root, versions } = input;
  const around = await hashPackages(root);
  const entries = policy === 'none' ? [] : await readIndex(outputDir);
  const byIdentity = new Map(entries.map((entry) => [entry.identity, entry]));
  const byName = new Map(entries.map((entry) => [entry.parts.name ?? '', entry]));
  const runs = new Map<string, Promise<ReadRun | undefined>>();
  const found = new Map<string, Reuse>();
  for (const planned of plan.cases) {
    const parts = partsOf(plan, planned, versions, around);
    const entry = byIdentity.get(hashJson(parts));
    found.set(
      planned.id,
      policy === 'none'
        ? { why: 'every case was to run again' }
        : entry
          ? await storedResult(entry, outputDir, runs, policy)
          : { why: whyNew(parts, byName.get(nameOf(planned))) },
    );
  }
  return found;
}

async function storedResult(
  { run_id, case_id }: Entry,
  outputDir: string,
  runs: Map<string, Promise<ReadRun | undefined>>,
  policy: ReusePolicy,
): Promise<Reuse> {
  const directory = join(outputDir, run_id);
  const reading = runs.get(run_id) ?? readRun(directory).catch(() => undefined);
  runs.set(run_id, reading);
  const row = (await reading)?.rows.get(case_id);
  if (!row) return { why: `its result in run ${run_id} is gone` };
  if (row.outcome === 'error')
    return { why: `its last result was an error (${row.failure_class})`, isStored: true };
  if (row.reproducibility === 'external')
    return { why: 'its agent works on a server of yours, which may have changed', isStored: true };
  if (policy === 'passed' && row.outcome !== 'passed')
    return { why: 'its last result was not passed', isStored: true };
  return { row, directory };
}

/** What has changed since the last result of a case of the same names. */
function whyNew(parts: Record<string, string>, last: Entry | undefined): string {
  if (!last) return 'it has no stored result';
  const changed = Object.keys(parts).filter((part) => parts[part] !== last.parts[part]);
  // The last part covers all the others.
  const named = changed.length > 1 ? changed.slice(0, -1) : changed;
  return `${named.join(' and ')} changed`;
}

/** Notes where the results of a run are, errors included, so that a later run can say why it does not reuse them. */
export async function noteReusable(
  input: Input & { runId: string; rows: ReadonlyMap<string, CaseRow> },
): Promise<void> {
  const { plan, outputDir, root, versions, runId, rows } = input;
  const around = await hashPackages(root);
  const lines = plan.cases.flatMap((planned) => {
    const row = rows.get(planned.id);
    if (!row || row.reused_from) return [];
    const parts = partsOf(plan, planned, versions, around);
    const entry: Entry = {
      ...{ identity: hashJson(parts), run_id: runId, case_id: planned.id },
      parts: { ...parts, name: nameOf(planned) },
    };
    return [`${JSON.stringify(entry)}\n`];
  });
  if (lines.length > 0) await appendFile(indexFile(outputDir), lines.join(''));
}

/** The entries of the index, the newest last. A line that cannot be read only costs a case that runs again. */
async function readIndex(outputDir: string): Promise<Entry[]> {
  const text = await readFile(indexFile(outputDir), 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap((line) => {
    const parsed = entrySchema.safeParse(parseJson(line));
    return parsed.success ? [parsed.data] : [];
  });
}
