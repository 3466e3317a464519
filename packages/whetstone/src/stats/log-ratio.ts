import type { Interval } from './interval.ts';
import { FEWEST_TASKS } from './population-difference.ts';
import { studentTQuantile } from './student-t.ts';

/** What one task took in each arm: a positive amount, such as mean US dollars per trial. */
export type TaskAmounts = { variant: number; baseline: number };

export type Ratio = {
  /** Geometric mean over tasks of variant / baseline. */
  ratio: number;
  /** Tasks with a known amount over 0 in both arms. */
  tasks: number;
  /** `null` below four tasks. */
  interval: Interval | null;
};

/**
 * How many times as much a variant takes as the baseline: m = mean of ln(variant / baseline) over tasks, interval
 * exp(m ± t_{K−1}·sd/√K) (statistics, R8). Amounts are skewed, so that a difference of means would be that of a few tasks.
 * `null` without tasks.
 */
export function logRatio(tasks: readonly TaskAmounts[], level = 0.95): Ratio | null {
  const logs = tasks
    .filter(({ variant, baseline }) => variant > 0 && baseline > 0)
    .map(({ variant, baseline }) => Math.log(variant / baseline))
    .toSorted((a, b) => a - b);
  const count = logs.length;
  if (count === 0) return null;
  const mean = logs.reduce((total, one) => total + one, 0) / count;
  if (count < FEWEST_TASKS) return { ratio: Math.exp(mean), tasks: count, interval: null };
  const variance = logs.reduce((total, one) => total + (one - mean) ** 2, 0) / (count - 1);
  const margin = studentTQuantile((1 + level) / 2, count - 1) * Math.sqrt(variance / count);
  const interval = {
    ...{ low: Math.exp(mean - margin), high: Math.exp(mean + margin), level },
    method: 'Student t over the logarithms of the ratios of tasks',
  };
  return { ratio: Math.exp(mean), tasks: count, interval };
}
