import { withoutNetwork } from '@whetstone/sandbox';
import type { TestRunnerName } from '../config/schema.ts';
import { type Surroundings, variationsOf } from '../verify/tests/run-tests.ts';
import type { TestReport } from '../verify/tests/test-runner.ts';
import type { ExclusionReason, Refusal } from './refusal.ts';

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

/** Runs the solved tree once more: in these surroundings, or in the usual ones. */
export type RunAgain = {
  in(surroundings: Surroundings): Promise<TestReport | undefined>;
  /** Ends the validation if the tests cannot be run. */
  asUsual(): Promise<TestReport | Refusal>;
};

/**
 * The runs that tell whether a test depends on surroundings. A flaky test changes its result as well, so both kinds are
 * repeated. No result that comes back every two, three or four runs fits this order.
 */
const TRIALS = ['other', 'usual', 'other', 'other', 'usual', 'usual'] as const;

/**
 * Which of the tests that pass in the usual surroundings do not in others, and in which: each is tried by itself, then all
 * at once. A test depends on surroundings if it passes in none of their runs and in all usual ones. It is flaky if its result
 * changes between two runs alike.
 */
export async function blameSurroundings(
  { variants, report }: Varied,
  passing: readonly string[],
  again: RunAgain,
): Promise<Map<string, ExclusionReason> | Refusal> {
  const changedIn = (seen: TestReport | undefined, ids: readonly string[]) =>
    ids.filter((id) => seen?.tests.get(id) !== 'passed');
  const problems = new Map<string, ExclusionReason>();
  const found = variants.length === 0 ? [] : changedIn(report, passing);
  let open = found;
  const several = variants.length > 1 ? [together(variants)] : [];
  const all = several.map(
    (surroundings) => ({ surroundings, reason: 'depends on its surroundings' }) as const,
  );
  for (const { surroundings, reason } of [...variants, ...all]) {
    let suspects = open;
    for (const [index, trial] of TRIALS.entries()) {
      if (suspects.length === 0) break;
      const seen = trial === 'usual' ? await again.asUsual() : await again.in(surroundings);
      if (seen && 'refused' in seen) return seen;
      const changed = changedIn(seen, suspects);
      const left = trial === 'usual' ? suspects.filter((id) => !changed.includes(id)) : changed;
      // A test that passes in the first run may depend on something else.
      if (index > 0) for (const id of suspects) if (!left.includes(id)) problems.set(id, 'flaky');
      suspects = left;
    }
    for (const id of suspects) problems.set(id, reason);
    open = open.filter((id) => !problems.has(id));
  }
  // What was never blamed failed in all surroundings at once, and passed in them later.
  return new Map(found.map((id) => [id, problems.get(id) ?? 'flaky']));
}
