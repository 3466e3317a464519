import type { Interval } from '../stats/interval.ts';
import { FEWEST_TASKS } from '../stats/power.ts';
import { counted, percentNumber, points, pointsRange, pValue } from './format.ts';
import type { Comparison } from './summary.ts';

/** What was measured of one variant against the baseline. */
export type Measured = Omit<Comparison, 'verdict' | 'sentence' | 'adjusted_p_value' | 'tasks_needed'> & {
  standardDeviation: number | null;
};

/**
 * A variant is `better` or `worse` only when three things agree, else it is `inconclusive`:
 * 1. the 95 % interval of the difference excludes 0;
 * 2. the sign-flip permutation test over tasks gives p < 0.05 after Holm's correction over the variants of this agent
 *    (so never with fewer than six tasks that differ);
 * 3. the cases without a result could not change it: if all of them came out against it, its sign would stay the same.
 */
export function decideVerdict(measured: Measured, adjustedPValue: number | null): Comparison['verdict'] {
  const { interval, bounds } = measured;
  if (interval === null || !isSignificant(measured, adjustedPValue)) return 'inconclusive';
  if (interval.low > 0 && bounds[0] > 0) return 'better';
  if (interval.high < 0 && bounds[1] < 0) return 'worse';
  return 'inconclusive';
}

export function isSignificant({ interval }: Measured, adjustedPValue: number | null): boolean {
  return interval !== null && excludesNone(interval) && adjustedPValue !== null && adjustedPValue < 0.05;
}

function excludesNone(interval: Interval): boolean {
  return interval.low > 0 || interval.high < 0;
}

/** The sentence that explains a verdict: what was found, and for an inconclusive one what would settle it. */
export function explainVerdict(input: {
  measured: Measured;
  adjustedPValue: number | null;
  verdict: Comparison['verdict'];
  /** Tasks that a difference of this size needs; `null` where that is not known. */
  needed: number | null;
  /** How many variants were compared with the baseline. */
  compared: number;
}): string {
  const { measured, adjustedPValue, verdict, needed, compared } = input;
  const { difference, interval, tasks } = measured;
  if (difference === null) return 'no task has a result in both arms';
  if (interval === null || adjustedPValue === null) {
    return `${points(difference)} pp on one task; one task gives no interval, and fewer than ${FEWEST_TASKS} tasks can settle nothing`;
  }
  const found = `${points(difference)} pp, 95 % interval ${pointsRange(interval.low, interval.high)} over ${counted(tasks, 'task')}`;
  const probability =
    pValue(adjustedPValue) + (compared > 1 ? ` after Holm's correction for ${compared} variants` : '');
  if (verdict !== 'inconclusive') return `${found} (${probability})`;
  if (isSignificant(measured, adjustedPValue)) {
    const range = pointsRange(measured.bounds[0], measured.bounds[1]);
    return `${found}; but the cases without a result could change its sign: with them it lies in ${range}`;
  }
  const doubt = excludesNone(interval)
    ? `; the sign-flip test over tasks does not confirm it (${probability})`
    : '';
  return `${found}${doubt}; ${outlook(measured, needed)}`;
}

/** What would settle the comparison, or which differences it could have shown. */
function outlook(measured: Measured, needed: number | null): string {
  const { standardDeviation, minimum_detectable_difference: smallest } = measured;
  if (needed !== null) {
    return `a difference of this size needs about ${counted(needed, 'task')} (80 % power)`;
  }
  if (standardDeviation === 0) return 'every task has the same rate in both arms';
  if (smallest === null) return 'so few tasks cannot show a difference of any size';
  return `with this many tasks, differences below ${percentNumber(smallest)} pp would hardly show (80 % power)`;
}
