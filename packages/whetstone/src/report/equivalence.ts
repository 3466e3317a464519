import { type TaskDifference, tasksNeeded, trialNoise } from '../stats/population-difference.ts';
import { estimateDifference, type Parts } from './estimate-difference.ts';
import type { Comparison, Equivalence } from './summary.ts';
import { measuredOn, scaleOf } from './task-differences.ts';
import { intervalBounds, shownInterval } from './task-intervals.ts';

/** Fewer tasks than this never make an equivalence (statistics, R1). */
export const FEWEST_TASKS_FOR_EQUIVALENCE = 20;

/**
 * What can be said of differences within ±`margin`. The interval has 95 % and not 90 %: with 90 %, arms that differ by
 * the margin would be called equivalent in more than 5 % of experiments (`npm run bench -- truth`). It is also wider than the
 * interval of the difference where the tasks differ little.
 */
export function equivalenceOf(
  parts: Parts,
  differences: readonly TaskDifference[],
  { margin, comparisons }: { margin: number; comparisons: number },
): Equivalence {
  const scale = scaleOf(parts[0].metric);
  const level = 1 - 0.05 / comparisons;
  const found = differences.length < 2 ? null : estimateDifference(parts, { level, widening: 'full' });
  const isEnough = differences.length >= FEWEST_TASKS_FOR_EQUIVALENCE;
  // Both sides have to be shown: a power of 90 % for each makes 80 % for both.
  const test = { scale, comparisons, power: 0.9, widening: 'full' as const };
  const spread = found?.standardDeviation ?? null;
  const needed =
    spread === null ? null : tasksNeeded(measuredOn(scale, margin), spread, trialNoise(differences), test);
  return {
    margin,
    interval: isEnough ? shownInterval(scale, found?.interval) : null,
    interval_bounds: isEnough ? intervalBounds(parts, { level, widening: 'full' }) : null,
    tasks_needed: needed === null ? null : Math.max(FEWEST_TASKS_FOR_EQUIVALENCE, needed),
  };
}

/** Whether the difference is shown to be within the margin, whatever the results of the missing cases might have been. */
export function isEquivalent({ equivalence }: Pick<Comparison, 'equivalence'>): boolean {
  if (!equivalence?.interval) return false;
  const { margin, interval, interval_bounds: missing } = equivalence;
  return [interval, ...(missing ? [missing.against, missing.in_favor] : [])].every(
    (one) => one !== null && one.low > -margin && one.high < margin,
  );
}
