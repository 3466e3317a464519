import { clusteredMean } from './clustered-mean.ts';
import type { Interval } from './interval.ts';
import { normalQuantile } from './normal.ts';
import { studentTQuantile } from './student-t.ts';

/**
 * Wilson score interval of `successes` in `count` independent observations. Both may be fractions (an effective
 * sample size). Stays within [0, 1] and never has zero width.
 * @throws RangeError unless 0 ≤ successes ≤ count and count > 0.
 */
export function wilson(successes: number, count: number, level = 0.95): Interval {
  if (!(count > 0 && successes >= 0 && successes <= count)) {
    throw new RangeError(`${successes} successes of ${count} are not a proportion`);
  }
  const z = normalQuantile((1 + level) / 2);
  const rate = successes / count;
  const scale = 1 + z ** 2 / count;
  const centre = (rate + z ** 2 / (2 * count)) / scale;
  const margin = (z / scale) * Math.sqrt((rate * (1 - rate)) / count + z ** 2 / (4 * count ** 2));
  return {
    low: successes === 0 ? 0 : Math.max(0, centre - margin),
    high: successes === count ? 1 : Math.min(1, centre + margin),
    level,
    method: 'Wilson',
  };
}

/** Wilson interval of a mean of task rates with tasks as the unit, as if each task had one trial. */
export function wilsonByTask(rates: readonly number[], level = 0.95): Interval {
  const { mean } = clusteredMean(rates);
  return {
    ...wilson(withinUnit(mean) * rates.length, rates.length, level),
    method: 'Wilson, tasks as the unit',
  };
}

/**
 * Interval of the mean of task rates, tasks as clusters: Wilson at the effective sample size n* = p(1−p)/SE² ·
 * (z/t)², where t has tasks − 1 degrees of freedom (Korn and Graubard's adjustment for the small number of clusters),
 * kept between the number of tasks and `trials`, the number of all trials. The lower bound is safe: rates within [0, 1]
 * cannot spread more than single trials with the same mean. `null` with one task, because the spread between tasks is
 * unknown. When all tasks have the same rate, the spread is unknown, not zero; then tasks are the unit.
 */
export function clusteredWilson(rates: readonly number[], trials: number, level = 0.95): Interval | null {
  const { mean, standardError, degreesOfFreedom } = clusteredMean(rates);
  if (standardError === null) return null;
  if (standardError === 0) return wilsonByTask(rates, level);
  const rate = withinUnit(mean);
  const probability = (1 + level) / 2;
  const narrowing = normalQuantile(probability) / studentTQuantile(probability, degreesOfFreedom);
  const effective = ((rate * (1 - rate)) / standardError ** 2) * narrowing ** 2;
  const count = Math.max(rates.length, Math.min(effective, trials));
  return { ...wilson(rate * count, count, level), method: 'Wilson, effective sample size over tasks' };
}

/** A mean of rates can leave [0, 1] by a rounding error. */
function withinUnit(rate: number): number {
  return Math.min(1, Math.max(0, rate));
}
