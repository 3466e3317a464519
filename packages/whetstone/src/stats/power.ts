import { normalQuantile } from './normal.ts';

/** Two-sided level and power of every planning number here: 5 % and 80 %. */
const Z_SUM = normalQuantile(0.975) + normalQuantile(0.8);

/** The sign-flip test over fewer tasks than this cannot reach p < 0.05: 2/2⁵ = 0.0625. */
export const FEWEST_TASKS = 6;

/**
 * Tasks that a paired comparison needs to see `difference` with 80 % power at 5 %, when differences over tasks have this
 * standard deviation (at the same number of trials a task); never below `FEWEST_TASKS`. Infinity when `difference` is 0.
 */
export function tasksNeeded(difference: number, standardDeviation: number): number {
  return Math.max(FEWEST_TASKS, Math.ceil(((Z_SUM * standardDeviation) / difference) ** 2));
}

/** The smallest difference that a paired comparison over `tasks` sees with 80 % power at 5 %. */
export function minimumDetectableDifference(tasks: number, standardDeviation: number): number {
  return (Z_SUM * standardDeviation) / Math.sqrt(tasks);
}

/** Independent single trials that each of two arms needs to tell these two rates apart, with 80 % power at 5 %. */
export function trialsPerArm(rate: number, otherRate: number): number {
  const variance = rate * (1 - rate) + otherRate * (1 - otherRate);
  return Math.ceil((Z_SUM ** 2 * variance) / (rate - otherRate) ** 2);
}
