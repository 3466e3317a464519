import { type ClusteredMean, clusteredMean, studentTInterval } from './clustered-mean.ts';
import { clipInterval, type Interval } from './interval.ts';
import { wilsonByTask } from './wilson-interval.ts';

/** The rates of one task in two arms. */
export type TaskPair = { variant: number; baseline: number };

export type PairedDifference = {
  /** Mean over tasks of (variant − baseline). */
  difference: number;
  /** `null` with one task. */
  standardError: number | null;
  /** Standard deviation of the differences over tasks; `null` with one task. */
  standardDeviation: number | null;
  interval: Interval | null;
};

/**
 * Difference of two arms over the same tasks: mean of d_t = variant − baseline, SE = sd(d_t)/√T, t interval with T −
 * 1 degrees of freedom, cut to [−1, 1]. One task gives no interval. When every task has the same difference the spread
 * is unknown, not zero: then the interval is the square-and-add one (Newcombe; MOVER) from the two Wilson intervals
 * with tasks as the unit, which takes the arms as independent and so is wide.
 * @throws RangeError when there are no pairs.
 */
export function pairedDifference(pairs: readonly TaskPair[], level = 0.95): PairedDifference {
  const estimate = clusteredMean(pairs.map((pair) => pair.variant - pair.baseline));
  const { mean: difference, standardError } = estimate;
  return {
    difference,
    standardError,
    standardDeviation: standardError === null ? null : standardError * Math.sqrt(pairs.length),
    interval: differenceInterval(pairs, estimate, level),
  };
}

function differenceInterval(pairs: readonly TaskPair[], estimate: ClusteredMean, level: number) {
  if (estimate.standardError === null) return null;
  const interval = studentTInterval(estimate, level) ?? squareAndAdd(pairs, level);
  return clipInterval(interval, -1, 1);
}

function squareAndAdd(pairs: readonly TaskPair[], level: number): Interval {
  const armOf = (side: keyof TaskPair) => {
    const rates = pairs.map((pair) => pair[side]);
    return { ...wilsonByTask(rates, level), rate: clusteredMean(rates).mean };
  };
  const [variant, baseline] = [armOf('variant'), armOf('baseline')];
  const difference = variant.rate - baseline.rate;
  return {
    low: difference - Math.hypot(variant.rate - variant.low, baseline.high - baseline.rate),
    high: difference + Math.hypot(variant.high - variant.rate, baseline.rate - baseline.low),
    level,
    method: 'Newcombe square-and-add, tasks as the unit',
  };
}
