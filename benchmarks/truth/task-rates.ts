import { incompleteBeta } from '../../packages/whetstone/src/stats/incomplete-beta.ts';
import { normalCdf, normalQuantile } from '../../packages/whetstone/src/stats/normal.ts';
import type { TaskDifference } from '../../packages/whetstone/src/stats/population-difference.ts';

export type Random = () => number;
/** The true pass rates of one task. */
type Rates = readonly [baseline: number, variant: number];
export type RateScenario = {
  name: string;
  /** The rates of the task at this place: two shares, even over (0, 1). */
  at: (place: number, other: number) => Rates;
};

const GRID = 2_000;
const grids = new Map<string, Float64Array>();

/** The inverse of the distribution function of task rates: Beta with this mean and this correlation within a task. */
function ratesOf(mean: number, correlation: number): (share: number) => number {
  const key = `${mean}/${correlation}`;
  const size = 1 / correlation - 1;
  const grid = grids.get(key) ?? betaQuantiles(mean * size, (1 - mean) * size);
  grids.set(key, grid);
  return (share) => grid[Math.min(GRID - 1, Math.floor(share * GRID))] ?? 0;
}

function betaQuantiles(a: number, b: number): Float64Array {
  let below = 0;
  return Float64Array.from({ length: GRID }, (_, i) => {
    let [low, high] = [below, 1];
    while (high - low > 1e-9) {
      const middle = (low + high) / 2;
      if (incompleteBeta(middle, a, b) * GRID < i + 0.5) low = middle;
      else high = middle;
    }
    below = low;
    return (low + high) / 2;
  });
}

/** Tasks whose two rates have these means; `between` is the correlation of a task's two rates (Gaussian copula). */
export function pairedRates(
  [baseline, variant]: readonly [number, number],
  { within, between }: { within: number; between: number },
): RateScenario {
  const ofBaseline = ratesOf(baseline, within);
  const ofVariant = ratesOf(variant, within);
  const placeOfVariant = (place: number, other: number) =>
    normalCdf(between * normalQuantile(place) + Math.sqrt(1 - between ** 2) * normalQuantile(other));
  return {
    name: `${baseline} → ${variant}, within ${within}, between ${between}`,
    at: (place, other) => [
      ofBaseline(place),
      ofVariant(between === 1 ? place : placeOfVariant(place, other)),
    ],
  };
}

/** No mean difference, but 20 % of the tasks go from .3 to .9 and the rest from .3 to .15. */
export function skewedNull(within: number): RateScenario {
  const [before, gained, lost] = [ratesOf(0.3, within), ratesOf(0.9, within), ratesOf(0.15, within)];
  return {
    name: `skewed, within ${within}`,
    at: (place, other) => [before(place), (other < 0.2 ? gained : lost)(place)],
  };
}

/** The scenarios without a difference. */
export function nullScenarios(): RateScenario[] {
  const correlations = [0.3, 0.5, 0.7];
  const pairs = correlations.flatMap((within) =>
    [0.1, 0.3, 0.5, 0.8].flatMap((mean) =>
      [0.7, 1].map((between) => pairedRates([mean, mean], { within, between })),
    ),
  );
  const fixed: RateScenario = {
    name: 'skewed, every task alike',
    at: (_, other) => (other < 0.2 ? [0.3, 0.9] : [0.3, 0.15]),
  };
  return [...pairs, ...correlations.map((within) => skewedNull(within)), fixed];
}

/** The rates of a task by lot. 0 and 1 have no normal quantile. */
export function drawRates({ at }: RateScenario, random: Random): Rates {
  const place = () => Math.min(1 - 1e-12, Math.max(1e-12, random()));
  return at(place(), place());
}

/** The differences of so many tasks of a scenario. */
export function drawTasks(
  scenario: RateScenario,
  { tasks, trials }: { tasks: number; trials: number },
  random: Random,
): TaskDifference[] {
  return Array.from({ length: tasks }, () => {
    const [baseline, variant] = drawRates(scenario, random);
    const difference = passes(variant, trials, random) - passes(baseline, trials, random);
    return { difference, trials: { variant: trials, baseline: trials } };
  });
}

/** The share of passed trials. */
export function passes(rate: number, trials: number, random: Random): number {
  let count = 0;
  for (let trial = 0; trial < trials; trial += 1) if (random() < rate) count += 1;
  return count / trials;
}
