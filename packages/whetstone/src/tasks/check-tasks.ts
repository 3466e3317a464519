import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { TaskConfig } from '../config/config.ts';
import { listSource } from '../config/source-tree.ts';
import { listTests } from '../verify/list-tests.ts';
import { type MaskFacts, maskFacts } from '../verify/verify.ts';
import { leaksOf } from './leaks.ts';
import { maskTask } from './mask-task.ts';
import { readProvenance } from './mined-task.ts';
import { possibleCommits } from './references.ts';
import type { TaskRoom } from './task-room.ts';

/** What was found about one task. */
export type TaskCheck = {
  task: string;
  /** How often the unchanged tree passed. It should never. `runs` counts only runs that could be judged. */
  nop: { passed: number; runs: number };
  /** How often the patch that solves the task passed; `null` where the task names none. */
  gold: { passed: number; runs: number } | null;
  /** How the tests are masked, or why they are not; `null`: there are none, or the patch never passed. */
  masks: MaskFacts | { why: string } | null;
  /** Ids of tests whose result changed between runs of the same tree; `null`: no test ran twice in the same tree. */
  flaky: string[] | null;
  /** Mean seconds of one verification; `null` where none took place. */
  seconds: number | null;
  /** Why the task is not fit for use, in sentences. Empty: it is. */
  problems: string[];
  /** What a person should look at, in sentences. */
  warnings: string[];
};

export type CheckOptions = {
  room: TaskRoom;
  /** How often each tree is verified: a whole number from 1. */
  repeat: number;
  signal: AbortSignal;
};

/** Verifies a task without work and with the patch that solves it, and looks for what its statement gives away. */
export async function checkTask(
  stated: TaskConfig,
  { room, repeat, signal }: CheckOptions,
): Promise<TaskCheck> {
  const problems: string[] = [];
  const listed = await listTests(stated, (patch) => room.judge(stated, patch, { signal })).catch(problemOf);
  if (typeof listed === 'string') problems.push(listed);
  const task = typeof listed === 'string' ? stated : listed;
  const masking = await maskTask(task, { room, signal }).catch(problemOf);
  if (typeof masking === 'string') problems.push(masking);
  const plan = typeof masking === 'object' && 'plan' in masking ? masking.plan : undefined;
  const flaky = new Set<string>();
  let hasRepeated = false;
  let seconds = 0;
  let runs = 0;
  const judge = async (patch: string | null) => {
    let passed = 0;
    let judged = 0;
    const first = new Map<string, string>();
    for (let round = 0; round < repeat; round += 1) {
      const found = await room.judge(task, patch, { signal, ...present({ masking: plan }) }).catch(problemOf);
      if (typeof found === 'string') {
        problems.push(found);
        continue;
      }
      if (found.broken) {
        problems.push(found.broken.evidence);
        continue;
      }
      seconds += found.seconds;
      judged += 1;
      runs += 1;
      if (found.validation === 'skipped' && found.hard.length === 0)
        problems.push('nothing verifies the work');
      const isPassed = found.validation !== 'failed' && found.hardStatus !== 'failed';
      if (isPassed) passed += 1;
      else if (patch !== null && found.failure !== undefined)
        problems.push(`with its patch: ${found.failure}`);
      for (const [id, status] of found.tests?.tests ?? []) {
        hasRepeated ||= first.has(id);
        if ((first.get(id) ?? status) !== status) flaky.add(id);
        first.set(id, status);
      }
    }
    return { passed, runs: judged };
  };
  const nop = await judge(null);
  const patch = task.goldPatch === undefined ? null : await readFile(task.goldPatch, 'latin1');
  const gold = patch === null ? null : await judge(patch);
  if (nop.passed > 0) problems.push(`passes without any work in ${nop.passed} of ${nop.runs} runs`);
  const relied = new Set(task.validation.tests?.mustPass);
  const unreliable = [...flaky].filter((id) => relied.has(id));
  if (unreliable.length > 0) problems.push(`relies on flaky tests: ${unreliable.join(', ')}`);
  return {
    ...{ task: task.id, nop, gold, flaky: hasRepeated ? [...flaky] : null },
    // Masks are made from the solved tree. Where that fails, its problem is all there is to say.
    masks: plan
      ? { ...maskFacts(plan) }
      : typeof masking === 'object' && 'why' in masking && gold?.passed !== 0
        ? { why: masking.why }
        : null,
    seconds: runs === 0 ? null : Math.round((seconds / runs) * 10) / 10,
    problems: [...new Set(problems)],
    warnings: await warningsOf(task, patch),
  };
}

/** A patch that cannot be applied, or a commit that is not there, is a problem of its task only. */
function problemOf(error: unknown): string {
  if (!(error instanceof WhetstoneError)) throw error;
  return error.message;
}

/** `null`: the task was not mined, or nobody can say how. */
const provenanceOf = async ({ goldPatch }: TaskConfig) =>
  goldPatch === undefined ? null : await readProvenance(dirname(goldPatch)).catch(() => null);

async function warningsOf(task: TaskConfig, patch: string | null): Promise<string[]> {
  const { prompt, hiddenTests, overlays = [] } = task;
  const warnings: string[] = [];
  if (patch === null) warnings.push('no gold_patch, so nothing shows that it can be solved');
  const shown = new Set(overlays.flatMap((one) => (one.kind === 'copy' ? one.target : [])));
  const hidden = hiddenTests === undefined ? [] : (await listSource(hiddenTests)).map(({ path }) => path);
  for (const path of hidden) {
    if (!shown.has(path) && prompt.includes(path)) warnings.push(`the prompt names the hidden file ${path}`);
  }
  const goldPatch = patch ?? '';
  const changed = [...goldPatch.matchAll(/^\+\+\+ b\/(.+)$/gm)].flatMap(([, path]) => path ?? []);
  const { copied, paths } = leaksOf(prompt, { goldPatch, paths: changed });
  for (const line of copied) warnings.push(`the prompt has a line of the answer: ${line}`);
  // The prompt of a task whose code was taken out says in which file.
  const isRemoved = (await provenanceOf(task))?.method === 'remove';
  if (!isRemoved)
    for (const path of paths) warnings.push(`the prompt names ${path}, which the answer changes`);
  for (const word of possibleCommits(prompt))
    warnings.push(`the prompt has ${word}, which may be a commit id`);
  return warnings;
}
