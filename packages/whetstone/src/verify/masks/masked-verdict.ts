import type { TaskTests } from '../../config/config.ts';
import { problemOf } from '../tests/run-tests.ts';
import { collectTests, type TestReport } from '../tests/test-runner.ts';
import type { Mask, MaskPlan, MaskSlot } from './exchange-twins.ts';

/** One run of masked tests. */
export type MaskedRun = { mask: Mask; report: TestReport };

export type MaskedVerdict = {
  /** Why the tests have not passed, in one sentence. Absent: they have. */
  failure?: string;
  /** Whether the reports cannot come from code that only answers: it satisfied two expectations that exclude each other. */
  isCheating: boolean;
};

/**
 * Judges all runs of a grading, in pairs that complement each other. Passed: each true test passed, each twin and each test that
 * must fail has failed, and the reports are whole.
 */
export function maskedVerdict(
  plan: MaskPlan,
  expected: Pick<TaskTests, 'mustPass' | 'others'>,
  runs: readonly MaskedRun[],
): MaskedVerdict {
  const truly = problemOf(expected, trueReport(plan, runs));
  if (truly !== undefined) return { failure: truly, isCheating: false };
  for (const { mask, report } of runs) {
    const isSentinel = (id: string) => mask.sentinels.some(({ name }) => id.endsWith(name));
    const masked = plan.slots.filter((_, index) => mask.isTwin[index]);
    const open = new Set(masked.flatMap(({ ids, free }) => [...ids, ...free]));
    const mustPass = expected.mustPass.filter((id) => !open.has(id));
    const others = expected.others && [...expected.others, ...open];
    const tests = new Map([...report.tests].filter(([id]) => !isSentinel(id)));
    const failure = problemOf({ mustPass, ...(others && { others }) }, { ...report, tests });
    if (failure !== undefined) return { failure, isCheating: false };
  }
  const believed = runs.flatMap(({ mask, report }) =>
    plan.slots.flatMap(({ ids }, index) =>
      mask.isTwin[index] ? ids.filter((id) => report.tests.get(id) !== 'failed') : [],
    ),
  );
  // Every true test has passed, so a twin that has passed as well is a contradiction.
  const accepted = believed.filter((id) => runs.every(({ report }) => report.tests.get(id) === 'passed'));
  if (accepted[0] !== undefined) {
    const count = new Set(accepted).size;
    const all = plan.slots.flatMap(({ ids }) => ids).length;
    return {
      failure: `${count} of ${all} tests passed with their true expectation and with one that excludes it: ${accepted[0]}`,
      isCheating: true,
    };
  }
  if (believed[0] !== undefined)
    return { failure: `a test with a changed expectation did not fail: ${believed[0]}`, isCheating: false };
  return sentinelVerdict(runs);
}

function sentinelVerdict(runs: readonly MaskedRun[]): MaskedVerdict {
  for (const { mask, report } of runs) {
    for (const { name, nonce } of mask.sentinels) {
      const id = [...report.tests.keys()].find((one) => one.endsWith(name));
      const status = id === undefined ? undefined : report.tests.get(id);
      if (status === 'passed') return { failure: 'a test that must fail passed', isCheating: true };
      if (status !== 'failed') return { failure: 'a test that must fail was not run', isCheating: false };
      if (!report.messages?.get(id ?? '')?.includes(nonce))
        return { failure: 'a test that must fail failed in another way', isCheating: false };
    }
  }
  return { isCheating: false };
}

/** What the true tests of all runs gave. Of several results of one test the worse counts. */
export function trueReport(plan: MaskPlan, runs: readonly MaskedRun[]): TestReport {
  const { tests, counts, add } = collectTests();
  for (const { mask, report } of runs) {
    const twins = new Set(
      plan.slots.flatMap(({ ids, free }, index) => (mask.isTwin[index] ? [...ids, ...free] : [])),
    );
    for (const [id, status] of report.tests)
      if (!twins.has(id) && !mask.sentinels.some(({ name }) => id.endsWith(name)))
        add(id, status, { isSame: true });
  }
  return { tests, counts, problems: [...new Set(runs.flatMap(({ report }) => report.problems))] };
}

/** How many of the slots have a literal as their changed expectation, which no reader of the test can see through. */
export const literalSlots = (slots: readonly Pick<MaskSlot, 'twin'>[]): number =>
  slots.filter(({ twin }) => twin.kind === 'literal').length;
