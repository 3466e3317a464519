import { present } from '@whetstone/events/present';
import { withoutNetwork } from '@whetstone/sandbox';
import type { TaskConfig } from '../config/config.ts';
import { otherTests } from '../verify/tests/expected-tests.ts';
import { type Surroundings, variationsOf } from '../verify/tests/run-tests.ts';
import type { TestReport, TestStatus } from '../verify/tests/test-runner.ts';
import type { Draft } from './draft.ts';
import type { TaskRoom } from './task-room.ts';

/** Which tests of a draft show the work, and which cannot be relied on. */
export type Validation = {
  /** Failed without the patch, passed with it. */
  failToPass: string[];
  /** Passed without and with it. */
  passToPass: string[];
  /** All other tests that a run of either tree reported. */
  others: string[];
  excluded: { test: string; reason: ExclusionReason }[];
  /** How often each tree was run. */
  runs: number;
  /** What the tests were tried with: each `true` or, where it cannot be tried here, `false`. */
  tried: { order: boolean; date: boolean; network: boolean };
  seconds: number;
};

export type ExclusionReason =
  | 'fails with the patch'
  | 'not collected without the patch'
  | 'flaky'
  | 'depends on the order of the tests'
  | 'depends on the date'
  | 'needs the network'
  | 'depends on its surroundings';

/** Why a draft is not a task. `isBroken`: its tests could not be tried at all. */
export type Refusal = { refused: string; evidence?: string; isBroken?: boolean; seconds: number };

type Tree = 'nop' | 'gold';

/**
 * Runs the tests of a draft without and with its patch in the clean room. Runs each tree `repeat` - 1 times; the written task
 * is the last run.
 */
export async function validateDraft(
  draft: Draft,
  task: TaskConfig,
  room: TaskRoom,
  { repeat, signal }: { repeat: number; signal: AbortSignal },
): Promise<Validation | Refusal> {
  let seconds = 0;
  const runs: Record<Tree, TestReport[]> = { nop: [], gold: [] };
  const run = async (tree: Tree, surroundings?: Surroundings): Promise<TestReport | Refusal> => {
    const patch = tree === 'gold' ? draft.goldPatch : null;
    const found = await room.judge(task, patch, { signal, ...present({ surroundings }) });
    seconds += found.seconds;
    if (found.tests && !found.broken) return found.tests;
    const evidence = found.broken?.evidence ?? found.failure ?? 'the tests did not run';
    const refused = found.tests ? 'its test runner could not be started' : 'its setup fails';
    return { refused, evidence, isBroken: true, seconds };
  };
  for (let round = 1; round <= Math.max(1, repeat - 1); round += 1) {
    for (const tree of ['gold', 'nop'] as const) {
      const report = await run(tree);
      if ('refused' in report) return report;
      runs[tree].push(report);
      const refused = round === 1 ? refusalOf(tree, report, runs.gold[0]) : undefined;
      if (refused) return { ...refused, seconds };
    }
  }
  const excluded = new Map<string, ExclusionReason>(unreliable(runs));
  const stable = [...(runs.gold[0]?.tests ?? [])].flatMap(([id, status]) =>
    status === 'passed' && !excluded.has(id) ? id : [],
  );
  const { tried, problems } = await vary(draft, stable, run);
  for (const [id, reason] of problems) excluded.set(id, reason);
  const usable = stable.filter((id) => !excluded.has(id));
  const before = runs.nop[0]?.tests;
  const failToPass = usable.filter((id) => before?.get(id) === 'failed');
  if (failToPass.length === 0) {
    const why = [...new Set(excluded.values())].join(', ');
    return { refused: 'no reliable test fails without its sources', evidence: why, seconds };
  }
  const passToPass = usable.filter((id) => before?.get(id) === 'passed');
  return {
    failToPass,
    passToPass,
    others: otherTests([...runs.gold, ...runs.nop], [...failToPass, ...passToPass]),
    excluded: [...excluded].map(([test, reason]) => ({ test, reason })),
    runs: runs.gold.length,
    tried,
    seconds,
  };
}

/** What the first run of a tree already rules out. */
function refusalOf(tree: Tree, report: TestReport, gold: TestReport | undefined) {
  const evidence = report.problems.length > 0 ? { evidence: report.problems.join('; ') } : {};
  const has = (status: TestStatus) => [...report.tests.values()].includes(status);
  if (tree === 'gold') {
    if (report.tests.size === 0) return { refused: 'its tests do not run with its sources', ...evidence };
    return has('passed') ? undefined : { refused: 'its tests fail with its sources', ...evidence };
  }
  const fails = [...report.tests].some(
    ([id, status]) => status === 'failed' && gold?.tests.get(id) === 'passed',
  );
  if (fails) return undefined;
  const own = report.problems.filter((problem) => !gold?.problems.includes(problem));
  if (own.length > 0)
    return { refused: 'its tests cannot be loaded without its sources', evidence: own.join('; ') };
  return report.problems.length > 0
    ? { refused: 'some of its tests cannot be loaded with its sources either', ...evidence }
    : { refused: 'its tests pass without its sources' };
}

/** Tests of the first gold run that no later run can be judged by. */
function* unreliable({ nop, gold }: Record<Tree, TestReport[]>): Generator<[string, ExclusionReason]> {
  for (const [id, first] of gold[0]?.tests ?? []) {
    const statuses = (reports: TestReport[]) => new Set(reports.map(({ tests }) => tests.get(id)));
    if (statuses(gold).size > 1 || statuses(nop).size > 1) yield [id, 'flaky'];
    else if (first === 'failed') yield [id, 'fails with the patch'];
    else if (first === 'skipped') continue;
    else if (!nop[0]?.tests.has(id)) yield [id, 'not collected without the patch'];
  }
}

type Variant = { surroundings: Surroundings; reason: ExclusionReason };

const REORDERED: Variant = { surroundings: { order: true }, reason: 'depends on the order of the tests' };

/** Runs the gold tree in other surroundings: in all of them at once, and only if that changes a result in each by itself. */
async function vary(
  draft: Draft,
  stable: readonly string[],
  run: (tree: Tree, surroundings: Surroundings) => Promise<TestReport | Refusal>,
) {
  const { order, date } = variationsOf(draft.tests.runner);
  const prefix = await withoutNetwork();
  const others: Variant[] = [
    ...(date ? [{ surroundings: { date }, reason: 'depends on the date' } as const] : []),
    ...(prefix ? [{ surroundings: { prefix }, reason: 'needs the network' } as const] : []),
  ];
  const problems = new Map<string, ExclusionReason>();
  const tried = { order, date, network: prefix !== undefined };
  const runIn = async (variants: readonly Variant[]): Promise<TestReport['tests']> => {
    const report = await run('gold', Object.assign({}, ...variants.map(({ surroundings }) => surroundings)));
    return 'refused' in report ? new Map() : report.tests;
  };
  const changedIn = (tests: TestReport['tests']) => stable.filter((id) => tests.get(id) !== 'passed');

  let variants = order ? [REORDERED, ...others] : others;
  if (variants.length === 0) return { tried, problems };
  let seen = await runIn(variants);
  if (order && seen.size === 0) {
    // An old runner refuses the option for another order, and then reports no test at all.
    const inOrder = await runIn(others);
    if (inOrder.size > 0) [tried.order, variants, seen] = [false, others, inOrder];
  }
  const all = changedIn(seen);
  if (all.length === 0) return { tried, problems };
  for (const id of all) problems.set(id, 'depends on its surroundings');
  for (const variant of variants)
    for (const id of changedIn(await runIn([variant]))) problems.set(id, variant.reason);
  return { tried, problems };
}
