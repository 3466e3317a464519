import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import type { Limits } from '@whetstone/sandbox';
import type { TaskAudit } from '../record/audits.ts';
import { wilson } from '../stats/wilson-interval.ts';
import { grammarOf } from '../syntax/source-parser.ts';
import { applyPatch, type Work } from '../verify/judge-work.ts';
import { atOnce } from './at-once.ts';
import type { Bench } from './bench.ts';
import type { ChangedSolution } from './changes/changed-solution.ts';
import { choose } from './changes/choose.ts';
import { mutateSource } from './changes/mutate-source.ts';
import { mutateText } from './changes/mutate-text.ts';
import { refactorSource } from './changes/refactor-source.ts';
import { type Finding, finding } from './finding.ts';
import { type Graded, graderOf } from './graded.ts';

/** From here on, surviving mutants are a finding: the least share of them that 95 % confidence leaves. */
const LEAST_SHARE = 0.1;
/** One survivor can do the same as the gold patch. */
const FEWEST = 2;

/** Most refactors of a task. */
const REFACTORS = 14;

/** Grades small changes of the gold patch, each of which should fail. */
export async function playMutants(bench: Bench, findings: Finding[]): Promise<TaskAudit['mutants']> {
  const { tree, options } = bench;
  const all: ChangedSolution[] = [];
  const withoutSyntax = new Set<ChangedSolution>();
  for (const source of tree.sources) {
    const mutants = await mutateSource(source, options.parse);
    if (mutants) all.push(...mutants);
    else if (grammarOf(source.path) === undefined)
      for (const mutant of mutateText(source)) {
        all.push(mutant);
        withoutSyntax.add(mutant);
      }
  }
  const chosen = choose(all, options.mutants);
  const graded = await play('mutant', chosen, bench);
  const survivors = graded.filter(({ verdict }) => verdict === 'passed').map(({ change }) => shown(change));
  const runs = graded.filter(({ verdict }) => verdict !== 'broken').length;
  const count = survivors.length;
  if (count >= FEWEST && wilson(count, runs).low > LEAST_SHARE) {
    const what = `${count} of ${runs} wrong versions of the gold patch pass.`;
    findings.push(finding('false-pass', bench.task.id, { subject: 'mutants', what }));
  }
  const text = graded.filter(({ change }) => withoutSyntax.has(change)).length;
  return { passed: count, runs, text, survivors };
}

/** Grades versions of the gold patch that do the same, each of which should pass. */
export async function playRefactors(bench: Bench, findings: Finding[]): Promise<TaskAudit['refactors']> {
  const { tree, options } = bench;
  const all: ChangedSolution[] = [];
  for (const source of tree.sources) all.push(...(await refactorSource(source, options.parse)));
  const graded = await play('refactor', choose(all, REFACTORS), bench);
  const judged = graded.filter(({ verdict }) => verdict !== 'broken');
  const rejected = judged
    .filter(({ verdict }) => verdict === 'failed')
    .map(({ change, why }) => ({ ...shown(change), why }));
  if (rejected.length > 0) {
    const kinds = rejected.map(({ name }) => name).join(', ');
    const what = `${rejected.length} of ${judged.length} right versions of the gold patch fail (${kinds}): ${rejected[0]?.why ?? 'unknown'}`;
    findings.push(finding('false-fail', bench.task.id, { subject: 'refactors', what }));
  }
  return { passed: judged.length - rejected.length, runs: judged.length, rejected };
}

const shown = ({ kind, what }: ChangedSolution) => ({ name: kind, what, why: null });

async function play(
  name: 'mutant' | 'refactor',
  changes: readonly ChangedSolution[],
  bench: Bench,
): Promise<(Graded & { change: ChangedSolution })[]> {
  const { tree, masking, options } = bench;
  // A loop that a mutant made endless should not take the whole limit of the task.
  const { seconds } = await bench.grade('gold 1', tree.patch);
  const limit = Math.ceil(Math.max(10, 10 * seconds));
  const { validation } = bench.task;
  const timeoutSeconds = Math.min(validation.timeoutSeconds ?? limit, limit);
  const limited = { ...bench.task, validation: { ...validation, timeoutSeconds } };
  const grade = graderOf(options.room, limited, {
    masking,
    limits: await modestLimits(options),
    signal: options.signal,
  });
  return atOnce(changes, options.jobs, async (change) => {
    const hash = createHash('sha256')
      .update(JSON.stringify([...change.files]))
      .digest('hex')
      .slice(0, 16);
    options.onStep?.(name);
    const work = solutionWith(tree.patch ?? '', change);
    return { ...(await options.remember(`${name} ${hash}`, () => grade(work))), change };
  });
}

const MOST_MEMORY = 4 * 2 ** 30;

/** A mutant may allocate without end. All of them together leave half of the machine to others. */
async function modestLimits({ room, jobs }: Bench['options']): Promise<Limits> {
  const { limits } = await room.describe();
  const share = Math.floor(totalmem() / 2 / jobs);
  const { memoryBytes } = limits;
  return memoryBytes === undefined
    ? limits
    : { ...limits, memoryBytes: Math.min(memoryBytes, MOST_MEMORY, share) };
}

/** The gold patch, and over it these files. No code of an agent has run in the workspace, so its folders are folders. */
export const solutionWith =
  (patch: string, { files }: ChangedSolution): Work =>
  async ({ workspace }) => {
    await applyPatch(workspace.path, patch);
    for (const [path, text] of files) {
      const file = join(workspace.path, path);
      await mkdir(dirname(file), { recursive: true });
      await rm(file, { force: true });
      await writeFile(file, text);
    }
  };
