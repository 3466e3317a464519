import { clipInterval, type Interval } from './interval.ts';
import { normalQuantile } from './normal.ts';
import { studentTCdf, studentTQuantile } from './student-t.ts';

/**
 * One task: rate of the variant − rate of the baseline, or for amounts the logarithm of their ratio, with the trials that
 * each is from.
 */
export type TaskDifference = { difference: number; trials: { variant: number; baseline: number } };

/**
 * `rate`: differences from −1 to 1, of shares of few trials. `value`: such differences less what they cost, which have no bounds.
 * `log_ratio`: logarithms of the ratios of amounts.
 */
export type Scale = 'rate' | 'value' | 'log_ratio';

export type PopulationDifference = {
  /** Mean over tasks. */
  difference: number;
  tasks: number;
  /** Standard deviation of the differences over tasks; `null` with one task. */
  standardDeviation: number | null;
  /** `null` with one task. */
  standardError: number | null;
  /** For tasks like these; of rates, cut to [−1, 1]; `null` with one task. */
  interval: Interval | null;
  /** Two-sided, from mean / SE; `null` with one task. */
  pValue: number | null;
};

/**
 * How much the spread over tasks is widened by the noise of trials. Without it, an interval shrinks to nothing when
 * every task happens to show the same difference. For each number of tasks it is the value with the most power whose
 * false positives stay at 5.5 % in the worst of the scenarios of `npm run bench -- truth`.
 */
export function spreadWidening(tasks: number): number {
  const upTo = [
    [4, 0.5],
    [5, 0.6],
    [7, 0.7],
    [11, 0.8],
    [14, 0.9],
    [19, 1],
  ] as const;
  return upTo.find(([most]) => tasks <= most)?.[1] ?? 1.2;
}

/**
 * The difference of two arms for tasks like these: m = mean d_t, S = Σ(d_t − m)², h = mean (1/T_A + 1/T_B)/2,
 * SE² = (S + 2c²h)/(K + 1)/K, interval m ± t_{K−1}·SE (statistics, R1). The logarithms of ratios have no widening:
 * SE² = S/(K − 1)/K (statistics, R8). It depends on no seed.
 * @throws RangeError when there are no tasks.
 */
export function populationDifference(
  tasks: readonly TaskDifference[],
  {
    level = 0.95,
    scale = 'rate',
    widening = spreadWidening(tasks.length),
  }: { level?: number; scale?: Scale; widening?: number } = {},
): PopulationDifference {
  const count = tasks.length;
  if (count === 0) throw new RangeError('no tasks to take a difference of');
  // Sorted, so that rounding does not depend on the order of tasks.
  const differences = tasks.map((task) => task.difference).toSorted((a, b) => a - b);
  const difference = sum(differences) / count;
  if (count === 1) {
    return {
      difference,
      tasks: 1,
      standardDeviation: null,
      standardError: null,
      interval: null,
      pValue: null,
    };
  }
  const squares = sum(differences.map((one) => (one - difference) ** 2));
  const variance =
    scale !== 'log_ratio'
      ? (squares + 2 * widening ** 2 * trialNoise(tasks)) / (count + 1)
      : squares / (count - 1);
  const standardError = Math.sqrt(variance / count);
  const margin = studentTQuantile((1 + level) / 2, count - 1) * standardError;
  const interval = { low: difference - margin, high: difference + margin, level, method: METHODS[scale] };
  return {
    difference,
    tasks: count,
    standardDeviation: Math.sqrt(squares / (count - 1)),
    standardError,
    interval: scale === 'rate' ? clipInterval(interval, -1, 1) : interval,
    pValue: twoSidedP(difference, standardError, count - 1),
  };
}

export const METHODS: Record<Scale, string> = {
  rate: 'Student t over tasks, spread widened by the noise of trials',
  value: 'Student t over tasks, spread widened by the noise of trials',
  log_ratio: 'Student t over the logarithms of the ratios of tasks',
};

/** Without any spread, a difference is certain and none is nothing. */
export function twoSidedP(difference: number, standardError: number, degreesOfFreedom: number): number {
  if (standardError === 0) return difference === 0 ? 1 : 0;
  return Math.min(1, 2 * (1 - studentTCdf(Math.abs(difference) / standardError, degreesOfFreedom)));
}

/** What a plan asks for: the share of true differences of that size that it shows, and of how many comparisons. */
export type PlannedTest = {
  /** Default: `rate`. */
  scale?: Scale;
  /** Default: 0.8. */
  power?: number;
  /** Comparisons of the report. The level of each is 5 % divided by their number: Holm's worst case. Default: 1. */
  comparisons?: number;
};

/**
 * The smallest difference that so many tasks show with 80 % power at the 5 % level:
 * (t_{.975}·s̃ + t_{.8}·s)/√K with s̃² = ((K − 1)s² + 2c²h)/(K + 1).
 * @param spread Standard deviation of the differences over tasks.
 * @param noise `trialNoise` of the plan: mean of (1/T_A + 1/T_B)/2.
 */
export function minimumDetectableDifference(
  tasks: number,
  spread: number,
  noise: number,
  { scale = 'rate', power = 0.8, comparisons = 1 }: PlannedTest = {},
): number {
  const ofTest = studentTQuantile(1 - 0.025 / comparisons, tasks - 1);
  const ofPower = studentTQuantile(power, tasks - 1);
  const tested = scale === 'rate' ? widenedSpread(tasks, spread, noise) : spread;
  return (ofTest * tested + ofPower * spread) / Math.sqrt(tasks);
}

/** The share of runs with so many tasks that show a true difference of `effect`: `minimumDetectableDifference`, solved for it. */
export function powerOf(effect: number, tasks: number, spread: number, noise: number): number {
  const needed = studentTQuantile(0.975, tasks - 1) * widenedSpread(tasks, spread, noise);
  const left = effect * Math.sqrt(tasks) - needed;
  if (spread === 0) return left > 0 ? 1 : 0;
  return studentTCdf(left / spread, tasks - 1);
}

const widenedSpread = (tasks: number, spread: number, noise: number): number =>
  Math.sqrt(((tasks - 1) * spread ** 2 + 2 * spreadWidening(tasks) ** 2 * noise) / (tasks + 1));

/**
 * The number of tasks that shows `target` with 80 % power at the 5 % level. `target` is the difference that the user
 * cares about, never the one that was observed. `null` beyond 100,000 tasks.
 */
export function tasksNeeded(
  target: number,
  spread: number,
  noise: number,
  { scale = 'rate', power = 0.8, comparisons = 1 }: PlannedTest = {},
): number | null {
  // The normal distribution needs fewer tasks than Student's t, so the search can begin just below its number.
  const quantiles = normalQuantile(1 - 0.025 / comparisons) + normalQuantile(power);
  const first = Math.max(FEWEST_TASKS, Math.floor(0.9 * (quantiles * (spread / target)) ** 2));
  if (first > 100_000) return null;
  let tasks = first;
  const test = { scale, power, comparisons };
  while (minimumDetectableDifference(tasks, spread, noise, test) > target) tasks += 1;
  return tasks;
}

/** Fewer tasks than this never make a verdict. */
export const FEWEST_TASKS = 4;

/** Mean over tasks of (1/T_A + 1/T_B)/2. */
export function trialNoise(tasks: readonly TaskDifference[]): number {
  return sum(tasks.map(({ trials }) => (1 / trials.variant + 1 / trials.baseline) / 2)) / tasks.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
