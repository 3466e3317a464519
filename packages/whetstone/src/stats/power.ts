import { normalQuantile } from './normal.ts';

/** Every number here is for a two-sided level of 5 % and a power of 80 %. */
const Z_SUM = normalQuantile(0.975) + normalQuantile(0.8);

/** The sign-flip test over fewer tasks than this cannot reach p < 0.05: 2/2⁵ = 0.0625. */
export const FEWEST_TASKS = 6;

/**
 * The number of tasks that a paired comparison needs to detect `difference` with 80 % power at the 5 % level, when
 * differences over tasks have this standard deviation (with the same number of trials per task). At least
 * `FEWEST_TASKS`. Infinity when `difference` is 0.
 */
export function tasksNeeded(difference: number, standardDeviation: number): number {
  return Math.max(FEWEST_TASKS, Math.ceil(((Z_SUM * standardDeviation) / difference) ** 2));
}

/** The smallest difference that a paired comparison over `tasks` detects with 80 % power at the 5 % level. */
export function minimumDetectableDifference(tasks: number, standardDeviation: number): number {
  return (Z_SUM * standardDeviation) / Math.sqrt(tasks);
}
