import { present } from '@whetstone/events/present';
import type { TaskConfig } from '../config/config.ts';
import { otherTests } from '../verify/tests/expected-tests.ts';
import type { Surroundings } from '../verify/tests/run-tests.ts';
import type { TestReport, TestStatus } from '../verify/tests/test-runner.ts';
import type { Draft } from './draft.ts';
import type { ExclusionReason, Refusal } from './refusal.ts';
import type { SolvedRuns } from './solved-runs.ts';
import type { TaskRoom } from './task-room.ts';
import { blameSurroundings, type Varied, varyAll } from './vary.ts';

/** Which tests of a draft show the work, and which cannot be relied on. */
export type Validation = {
  /** The test files that are run: those of which a test is collected without the patch. */
  files: string[];
  /** Failed without the patch, passed with it. */
  failToPass: string[];
  /** Passed without and with it. */
  passToPass: string[];
  /** All other tests that a run of either tree reported. */
  others: string[];
  excluded: { test: string; reason: ExclusionReason }[];
  /** How often each tree was run. */
  runs: number;
  tried: Varied['tried'];
  seconds: number;
};

type Tree = 'nop' | 'gold';

/** `repeat`: runs of each tree. `solvedRuns`: runs of trees that other drafts lead to as well. Default: none are known. */
export type ValidateOptions = { repeat: number; signal: AbortSignal; solvedRuns?: SolvedRuns };

/**
 * Runs the tests of a draft without and with its patch in the clean room. Runs each tree `repeat` - 1 times; the written task
 * is the last run.
 */
export async function validateDraft(
  draft: Draft,
  task: TaskConfig,
  room: TaskRoom,
  { repeat, signal, solvedRuns = () => (_, files, run) => run([...files]) }: ValidateOptions,
): Promise<Validation | Refusal> {
  let seconds = 0;
  let judged = task;
  const runs: Record<Tree, TestReport[]> = { nop: [], gold: [] };
  const judge = async (
    patch: string | null,
    { surroundings, of = judged }: { surroundings?: Surroundings | undefined; of?: TaskConfig } = {},
  ): Promise<TestReport | Refusal> => {
    const found = await room.judge(of, patch, { signal, ...present({ surroundings }) });
    seconds += found.seconds;
    if (found.tests && !found.broken) return found.tests;
    const evidence = found.broken?.evidence ?? found.failure ?? 'the tests did not run';
    const refused = found.tests ? 'its test runner could not be started' : 'its setup fails';
    return { refused, evidence, isBroken: true, mayLack: true, seconds };
  };
  const runSolved = solvedRuns();
  const run = async (tree: Tree, surroundings?: Surroundings): Promise<TestReport | Refusal> => {
    if (tree === 'nop') return judge(null);
    const { tests } = judged.validation;
    if (!draft.solved || !tests) return judge(draft.goldPatch, { surroundings });
    const start = [draft.solved, await room.environmentOf(judged)];
    const key = JSON.stringify([start, { ...tests, files: [] }, judged.setup, surroundings]);
    return runSolved(key, tests.files, (files) =>
      judge(draft.goldPatch, { surroundings, of: withFiles(judged, files) }),
    );
  };
  const runIn = async (surroundings: Surroundings) => {
    const report = await run('gold', surroundings);
    return 'refused' in report ? undefined : report;
  };

  // First the tree without the sources: it refuses most of the candidates that are refused.
  const before = await run('nop');
  if ('refused' in before) return before;
  runs.nop.push(before);
  if (isWhole(before)) return { refused: 'its tests pass without its sources', seconds };
  const { unseen, ...counting } = countingFiles(draft, before);
  let { files } = counting;
  if (files.length < draft.tests.files.length) judged = withFiles(task, files);
  const rounds = Math.max(1, repeat - 1);
  if (draft.method === 'remove' && files.length > 1 && rounds > 1) {
    const again = await run('nop');
    if ('refused' in again) return again;
    runs.nop.push(again);
    // A slow file in which now one test fails and now another, because the machine is busy, would cost most in all further runs.
    const failing = files.filter((file) => idsOf(before, file).some((id) => isFailing(id, runs.nop)));
    if (failing.length > 0) {
      files = failing;
      judged = withFiles(task, files);
    }
  }
  const after = await run('gold');
  if ('refused' in after) return after;
  const refused = refusalOf(before, after);
  if (refused) {
    // What the other files do with the sources may be the reason.
    const isNarrow = judged !== task;
    judged = task;
    const whole = isNarrow ? await run('gold') : after;
    if ('refused' in whole) return whole;
    const reason = refusalOf(before, whole) ?? refused;
    return { ...reason, ...(!isWhole(whole) && { mayLack: true }), seconds };
  }
  runs.gold.push(after);
  const lacking = isWhole(after) ? {} : { mayLack: true };

  const varied = await varyAll(draft.tests.runner, runIn);
  // Where the surroundings change nothing, this was one more run like the first.
  if (runs.gold.length < rounds && varied.report && isSame(varied.report, after))
    runs.gold.push(varied.report);
  for (const tree of ['gold', 'nop'] as const)
    while (runs[tree].length < rounds) {
      const report = await run(tree);
      if ('refused' in report) return report;
      runs[tree].push(report);
    }

  const excluded = new Map<string, ExclusionReason>(unreliable(runs));
  for (const file of unseen) excluded.set(file, 'not collected without the patch');
  const stable = [...after.tests].flatMap(([id, status]) =>
    status === 'passed' && !excluded.has(id) ? id : [],
  );
  const blamed = await blameSurroundings(varied, stable, { in: runIn, asUsual: () => run('gold') });
  if ('refused' in blamed) return blamed;
  for (const [id, reason] of blamed) excluded.set(id, reason);
  const usable = stable.filter((id) => !excluded.has(id));
  const failToPass = usable.filter((id) => before.tests.get(id) === 'failed');
  if (failToPass.length === 0) {
    const why = [...new Set(excluded.values())].join(', ');
    return { refused: 'no reliable test fails without its sources', evidence: why, ...lacking, seconds };
  }
  const passToPass = usable.filter((id) => before.tests.get(id) === 'passed');
  return {
    ...{ files, failToPass, passToPass },
    others: otherTests([...runs.gold, ...runs.nop], [...failToPass, ...passToPass]),
    excluded: [...excluded].map(([test, reason]) => ({ test, reason })),
    ...{ runs: rounds, tried: varied.tried, seconds },
  };
}

const isWhole = ({ tests, problems }: TestReport): boolean =>
  problems.length === 0 && has(tests, 'passed') && !has(tests, 'failed');

const has = (tests: TestReport['tests'], status: TestStatus): boolean => [...tests.values()].includes(status);

/**
 * The test files that can count, by a report on the tree without the patch, where its ids begin with files. Those of which
 * it has no test cannot (`unseen`). Of code that was taken out, tests that do not fail without it show nothing. The others
 * need not be run again: some take longer than all that count.
 */
function countingFiles({ method, tests: { files } }: Draft, before: TestReport) {
  const seen = files.filter((file) => idsOf(before, file).length > 0);
  const unseen = files.filter((file) => !seen.includes(file));
  const failing = seen.filter((file) => idsOf(before, file).some((id) => isFailing(id, [before])));
  if (failing.length === 0) return { files: [...files], unseen: [] };
  return { files: method === 'remove' ? failing : seen, unseen };
}

const idsOf = ({ tests }: TestReport, file: string): string[] =>
  [...tests.keys()].filter((id) => id.startsWith(file));

const isFailing = (id: string, reports: readonly TestReport[]): boolean =>
  reports.every(({ tests }) => tests.get(id) === 'failed');

const withFiles = (task: TaskConfig, files: string[]): TaskConfig => {
  const { tests } = task.validation;
  return tests ? { ...task, validation: { ...task.validation, tests: { ...tests, files } } } : task;
};

const isSame = ({ tests }: TestReport, other: TestReport): boolean =>
  tests.size === other.tests.size && [...tests].every(([id, status]) => other.tests.get(id) === status);

/** What the first run of each tree already rules out. */
function refusalOf(
  before: TestReport,
  after: TestReport,
): { refused: string; evidence?: string } | undefined {
  const evidenceOf = ({ problems }: TestReport) =>
    problems.length > 0 ? { evidence: problems.join('; ') } : {};
  if (after.tests.size === 0)
    return { refused: 'its tests do not run with its sources', ...evidenceOf(after) };
  if (!has(after.tests, 'passed'))
    return { refused: 'its tests fail with its sources', ...evidenceOf(after) };
  const fails = [...before.tests].some(
    ([id, status]) => status === 'failed' && after.tests.get(id) === 'passed',
  );
  if (fails) return undefined;
  const own = before.problems.filter((problem) => !after.problems.includes(problem));
  if (own.length > 0)
    return { refused: 'its tests cannot be loaded without its sources', evidence: own.join('; ') };
  return before.problems.length > 0
    ? { refused: 'some of its tests cannot be loaded with its sources either', ...evidenceOf(before) }
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
