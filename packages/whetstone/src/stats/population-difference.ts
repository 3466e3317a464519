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

export type DifferenceOptions = {
  /** Default: 0.95. */
  level?: number;
  /** Default: `rate`. */
  scale?: Scale;
  /**
   * The factor c itself; or `full`, all that is ever added whatever the spread, for an equivalence: a spread that is small by
   * chance must not show that there is no difference. Default: by tasks, trials and spread.
   */
  widening?: number | 'full';
};

type Widened = { noise: number; widening?: DifferenceOptions['widening'] | undefined };

/** The standard error of rates, for the sum S of the squares about their mean, and `noise` as `trialNoise` gives it. */
export const standardErrorOf = (squares: number, tasks: number, widened: Widened): number =>
  Math.sqrt(widenedVariance(squares, tasks, widened) / tasks);

function widenedVariance(squares: number, tasks: number, { noise, widening }: Widened): number {
  const added =
    typeof widening === 'number'
      ? 2 * widening ** 2 * noise
      : widening === 'full'
        ? mostAdded(tasks, 1 / noise)
        : addedSquares(squares, tasks, 1 / noise);
  return (squares + added) / (tasks + 1);
}

/**
 * What is added to the squares S of the differences over tasks, as 2c²h: `mostAdded`, but no more than a share of S, so that it
 * widens little where the tasks differ little. Where S is nearly 0, S and what is added are at least `mostAdded`, or less with
 * more than one trial, so that tasks which happen to agree claim no certainty. False positives are at most 5 % in the worst
 * scenario of `npm run bench -- truth`.
 */
function addedSquares(squares: number, tasks: number, trials: number): number {
  const most = mostAdded(tasks, trials);
  const share = mostShare(tasks, trials);
  if (share === null) return most;
  const least = most * Math.min(1, 1.5 / trials);
  return Math.max(least - squares, Math.min(most, share * squares));
}

/**
 * What a sample can lack: where a fifth of the tasks gain and the others lose, it can have none of the former. How much that takes
 * depends on the number of tasks and, with few trials, on the few values that S can have.
 */
function mostAdded(tasks: number, trials: number): number {
  if (tasks >= 5 && isSingle(trials)) return Math.max(1.04, 0.25 * Math.sqrt(tasks));
  if (tasks <= 8 && trials < 2.99) return tasks <= 4 ? 0.36 : 0.4;
  return Math.max(0.19, Math.min(0.048 * (tasks - 2), 0.14 * Math.sqrt(tasks)));
}

/**
 * The largest share of S that is added; `null`: there is none. A sample that has only one of the few tasks that gain has a large S,
 * and so gets all that it needs. Where S is small, such tasks hardly exist: then as much would only make the interval too wide.
 */
function mostShare(tasks: number, trials: number): number | null {
  if (isSingle(trials)) return tasks < 16 ? null : Math.max(0.08, 2.5 / tasks);
  return tasks <= 8 ? null : Math.max(0.1, 5 / tasks, (30 * trials) / tasks ** 2);
}

/** Trials are a harmonic mean, which rounding can put just below a whole number. */
const isSingle = (trials: number): boolean => trials < 1.99;

/**
 * The difference of two arms for tasks like these: m = mean d_t, S = Σ(d_t − m)², h = mean (1/T_A + 1/T_B)/2,
 * SE² = (S + 2c²h)/(K + 1)/K, interval m ± t_{K−1}·SE (statistics, R1). The logarithms of ratios have no widening:
 * SE² = S/(K − 1)/K (statistics, R8). It depends on no seed.
 * @throws RangeError when there are no tasks.
 */
export function populationDifference(
  tasks: readonly TaskDifference[],
  { level = 0.95, scale = 'rate', widening }: DifferenceOptions = {},
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
  const noise = trialNoise(tasks);
  const standardError =
    scale === 'log_ratio'
      ? Math.sqrt(squares / (count - 1) / count)
      : standardErrorOf(squares, count, { noise, widening });
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
  rate: 'Student t over tasks, with a widened spread',
  value: 'Student t over tasks, with a widened spread',
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
  /** `full` for an equivalence, as in `DifferenceOptions`. */
  widening?: 'full';
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
  { scale = 'rate', power = 0.8, comparisons = 1, widening }: PlannedTest = {},
): number {
  const ofTest = studentTQuantile(1 - 0.025 / comparisons, tasks - 1);
  const ofPower = studentTQuantile(power, tasks - 1);
  const tested = scale === 'rate' ? widenedSpread(tasks, spread, { noise, widening }) : spread;
  return (ofTest * tested + ofPower * spread) / Math.sqrt(tasks);
}

/** The share of runs with so many tasks that show a true difference of `effect`: `minimumDetectableDifference`, solved for it. */
export function powerOf(effect: number, tasks: number, spread: number, noise: number): number {
  const needed = studentTQuantile(0.975, tasks - 1) * widenedSpread(tasks, spread, { noise });
  const left = effect * Math.sqrt(tasks) - needed;
  if (spread === 0) return left > 0 ? 1 : 0;
  return studentTCdf(left / spread, tasks - 1);
}

const widenedSpread = (tasks: number, spread: number, widened: Widened): number =>
  Math.sqrt(widenedVariance((tasks - 1) * spread ** 2, tasks, widened));

/**
 * The number of tasks that shows `target` with 80 % power at the 5 % level. `target` is the difference that the user
 * cares about, never the one that was observed. `null` beyond 100,000 tasks.
 */
export function tasksNeeded(
  target: number,
  spread: number,
  noise: number,
  { scale = 'rate', power = 0.8, comparisons = 1, ...others }: PlannedTest = {},
): number | null {
  // The normal distribution needs fewer tasks than Student's t, so the search can begin just below its number.
  const quantiles = normalQuantile(1 - 0.025 / comparisons) + normalQuantile(power);
  const first = Math.max(FEWEST_TASKS, Math.floor(0.9 * (quantiles * (spread / target)) ** 2));
  if (first > 100_000) return null;
  const test = { scale, power, comparisons, ...others };
  const isEnough = (tasks: number) => !(minimumDetectableDifference(tasks, spread, noise, test) > target);
  // More tasks always show a smaller difference. Each number costs two quantiles, and the answer may be thousands away.
  let enough = first;
  let tooFew = first - 1;
  for (let step = 1; !isEnough(enough); step *= 2) {
    tooFew = enough;
    enough += step;
  }
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    if (isEnough(middle)) enough = middle;
    else tooFew = middle;
  }
  return enough;
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
