import {
  type DifferenceOptions,
  standardErrorOf,
} from '../../packages/whetstone/src/stats/population-difference.ts';
import { studentTQuantile } from '../../packages/whetstone/src/stats/student-t.ts';
import type { RateScenario } from './task-rates.ts';

/** What can come out of an experiment: how likely each mean difference is together with each sum of squares about it. */
export type Outcomes = {
  tasks: number;
  trials: number;
  visit: (see: (mean: number, squares: number, chance: number) => void) => void;
};

/** Trials of a task. */
export const TRIALS = [1, 2, 3, 5, 10];
/** With 100 tasks of 10 trials there are too many outcomes. */
export const trialsOf = (tasks: number): number[] => TRIALS.filter((trials) => tasks * trials <= 500);

const PLACES = 1_000;
const OTHERS = 100;
/** Less likely states on the way are left out: together less than a ten thousandth. */
const NEGLIGIBLE = 1e-12;

/**
 * Adds one task after the other to the distribution of Σd and Σd², both counted in trials so that they are whole numbers. Nothing
 * is drawn: of a rule that looks at the mean and the spread, this gives the probability of every decision.
 */
export function outcomesOf(
  scenario: RateScenario,
  { tasks, trials }: { tasks: number; trials: number },
): Outcomes {
  const chances = differenceChances(scenario, trials);
  const width = tasks * trials ** 2 + 1;
  const middle = tasks * trials;
  let [now, next] = [0, 0].map(() => new Float64Array((2 * middle + 1) * width)) as [
    Float64Array,
    Float64Array,
  ];
  now[middle * width] = 1;
  let [low, high, most] = [middle, middle, 0];
  for (let task = 0; task < tasks; task += 1) {
    next.fill(0, (low - trials) * width, (high + trials + 1) * width);
    let [nextLow, nextHigh, nextMost] = [middle, middle, 0];
    for (let sum = low; sum <= high; sum += 1) {
      for (let squares = 0; squares <= most; squares += 1) {
        const chance = now[sum * width + squares] ?? 0;
        if (chance < NEGLIGIBLE) continue;
        for (let d = -trials; d <= trials; d += 1)
          add(next, (sum + d) * width + squares + d * d, chance * (chances[d + trials] ?? 0));
        nextLow = Math.min(nextLow, sum - trials);
        nextHigh = Math.max(nextHigh, sum + trials);
        nextMost = Math.max(nextMost, squares + trials * trials);
      }
    }
    [low, high, most] = [nextLow, nextHigh, nextMost];
    [now, next] = [next, now];
  }
  return {
    ...{ tasks, trials },
    visit(see) {
      for (let sum = low; sum <= high; sum += 1) {
        const mean = (sum - middle) / trials / tasks;
        for (let squares = 0; squares <= most; squares += 1) {
          const chance = now[sum * width + squares] ?? 0;
          if (chance > 0) see(mean, Math.max(0, squares / trials ** 2 - tasks * mean ** 2), chance);
        }
      }
    },
  };
}

/** The interval of a plain t test, but for a trace that keeps it from having no width. */
export const PLAIN: DifferenceOptions = { widening: 0.01 };

/** The probability, in per cent, that the interval does not hold `value`. */
export const missed = (outcomes: Outcomes, value: number, options?: DifferenceOptions): number =>
  shareOf(outcomes, options, (mean, margin) => Math.abs(mean - value) > margin * (1 + 1e-12));

/** The probability, in per cent, that the interval is within ±`bound`. */
export const within = (outcomes: Outcomes, bound: number, options?: DifferenceOptions): number =>
  shareOf(outcomes, options, (mean, margin) => Math.abs(mean) + margin < bound);

function shareOf(
  { tasks, trials, visit }: Outcomes,
  { level = 0.95, widening }: DifferenceOptions = {},
  isSo: (mean: number, margin: number) => boolean,
): number {
  const quantile = studentTQuantile((1 + level) / 2, tasks - 1);
  let total = 0;
  visit((mean, squares, chance) => {
    const margin = quantile * standardErrorOf(squares, tasks, { noise: 1 / trials, widening });
    if (isSo(mean, margin)) total += chance;
  });
  return 100 * total;
}

/** Of scenarios, by the number of trials. */
const known = new WeakMap<RateScenario, Map<number, Float64Array>>();

/** The chance of each difference of one task in passed trials, from −`trials` to `trials`. */
function differenceChances(scenario: RateScenario, trials: number): Float64Array {
  const ofScenario = known.get(scenario) ?? new Map<number, Float64Array>();
  known.set(scenario, ofScenario);
  const chances = ofScenario.get(trials) ?? computeChances(scenario, trials);
  ofScenario.set(trials, chances);
  return chances;
}

function computeChances({ at }: RateScenario, trials: number): Float64Array {
  const chances = new Float64Array(2 * trials + 1);
  const passChances = binomial(trials);
  for (let i = 0; i < PLACES; i += 1) {
    // The rate of the baseline depends on the place alone.
    const variants = new Float64Array(trials + 1);
    let baseline = 0;
    for (let j = 0; j < OTHERS; j += 1) {
      const rates = at((i + 0.5) / PLACES, (j + 0.5) / OTHERS);
      baseline = rates[0];
      for (const [passed, chance] of passChances(rates[1]).entries()) add(variants, passed, chance);
    }
    const ofBaseline = passChances(baseline);
    for (let a = 0; a <= trials; a += 1)
      for (let b = 0; b <= trials; b += 1)
        add(chances, b - a + trials, ((ofBaseline[a] ?? 0) * (variants[b] ?? 0)) / PLACES / OTHERS);
  }
  return chances;
}

function add(to: Float64Array, place: number, amount: number): void {
  to[place] = (to[place] ?? 0) + amount;
}

/** How likely each number of passes is at a rate. */
function binomial(trials: number): (rate: number) => Float64Array {
  const of = new Map<number, Float64Array>();
  return (rate) => {
    const computed = of.get(rate);
    if (computed) return computed;
    let ways = 1;
    const chances = Float64Array.from({ length: trials + 1 }, (_, passed) => {
      if (passed > 0) ways = (ways * (trials - passed + 1)) / passed;
      return ways * rate ** passed * (1 - rate) ** (trials - passed);
    });
    of.set(rate, chances);
    return chances;
  };
}
