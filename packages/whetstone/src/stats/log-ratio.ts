import type { Interval } from './interval.ts';
import { FEWEST_TASKS, populationDifference } from './population-difference.ts';

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
    .map(({ variant, baseline }) => ({
      difference: Math.log(variant / baseline),
      trials: { variant: 1, baseline: 1 },
    }));
  if (logs.length === 0) return null;
  const { difference, interval, tasks: count } = populationDifference(logs, { level, scale: 'log_ratio' });
  return {
    ratio: Math.exp(difference),
    tasks: count,
    interval:
      interval && count >= FEWEST_TASKS
        ? { ...interval, low: Math.exp(interval.low), high: Math.exp(interval.high) }
        : null,
  };
}
