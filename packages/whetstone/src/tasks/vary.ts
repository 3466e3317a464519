import { withoutNetwork } from '@whetstone/sandbox';
import type { TestRunnerName } from '../config/schema.ts';
import { type Surroundings, variationsOf } from '../verify/tests/run-tests.ts';
import type { TestReport } from '../verify/tests/test-runner.ts';
import type { ExclusionReason } from './refusal.ts';

/** Runs the solved tree. `undefined`: its tests could not be run. */
type RunIn = (surroundings: Surroundings) => Promise<TestReport | undefined>;

type Variant = { surroundings: Surroundings; reason: ExclusionReason };

const REORDERED: Variant = { surroundings: { order: true }, reason: 'depends on the order of the tests' };

/** A run of the solved tree in all the surroundings at once that can be had here. */
export type Varied = {
  /** What the tests were tried with: each `true` or, where it cannot be tried here, `false`. */
  tried: { order: boolean; date: boolean; network: boolean };
  /** Absent: there are no other surroundings, or the tests do not run in them. */
  report?: TestReport;
  variants: readonly Variant[];
};

/** Runs the solved tree in other surroundings, all of them at once. */
export async function varyAll(runner: TestRunnerName, runIn: RunIn): Promise<Varied> {
  const { order, date } = variationsOf(runner);
  const prefix = await withoutNetwork();
  const others: Variant[] = [
    ...(date ? [{ surroundings: { date }, reason: 'depends on the date' } as const] : []),
    ...(prefix ? [{ surroundings: { prefix }, reason: 'needs the network' } as const] : []),
  ];
  const tried = { order, date, network: prefix !== undefined };
  const variants = order ? [REORDERED, ...others] : others;
  if (variants.length === 0) return { tried, variants };
  const report = await runIn(together(variants));
  if (order && (report?.tests.size ?? 0) === 0) {
    // An old runner refuses the option for another order, and then reports no test at all.
    const inOrder = await runIn(together(others));
    if (inOrder && inOrder.tests.size > 0) return variedBy(inOrder, { ...tried, order: false }, others);
  }
  return report ? variedBy(report, tried, variants) : { tried, variants };
}

/** Without the date and the order, where the runner could not have others. */
function variedBy(report: TestReport, tried: Varied['tried'], variants: readonly Variant[]): Varied {
  const { hasTodaysDate = false, hasUsualOrder = false } = report;
  const rest = variants.filter(
    ({ surroundings: { date, order } }) => !(date && hasTodaysDate) && !(order && hasUsualOrder),
  );
  const { order, date, network } = tried;
  return {
    ...{ tried: { order: order && !hasUsualOrder, date: date && !hasTodaysDate, network } },
    ...{ variants: rest, report },
  };
}

const together = (variants: readonly Variant[]): Surroundings =>
  Object.assign({}, ...variants.map(({ surroundings }) => surroundings));

/** Which of the tests that pass in the usual surroundings do not in others, and in which: each is tried by itself. */
export async function blameSurroundings(
  { variants, report }: Varied,
  passing: readonly string[],
  runIn: RunIn,
): Promise<Map<string, ExclusionReason>> {
  const problems = new Map<string, ExclusionReason>();
  const changedIn = (seen: TestReport | undefined) =>
    passing.filter((id) => seen?.tests.get(id) !== 'passed');
  const all = variants.length === 0 ? [] : changedIn(report);
  if (all.length === 0) return problems;
  for (const id of all) problems.set(id, 'depends on its surroundings');
  for (const { surroundings, reason } of variants)
    for (const id of changedIn(await runIn(surroundings))) problems.set(id, reason);
  return problems;
}
