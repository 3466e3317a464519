import { normalCdf } from '../../packages/whetstone/src/stats/normal.ts';
import type { TaskDifference } from '../../packages/whetstone/src/stats/population-difference.ts';

export type Random = () => number;
/** Draws the true pass rates of one task: of the baseline and of the variant. */
export type DrawRates = (random: Random) => readonly [baseline: number, variant: number];
export type RateScenario = { name: string; draw: DrawRates };

const GRID = 20_000;
const grids = new Map<string, Float64Array>();

/** The inverse of the distribution function of task rates: Beta with this mean and this correlation within a task. */
function ratesOf(mean: number, correlation: number, random: Random): (share: number) => number {
  const key = `${mean}/${correlation}`;
  let grid = grids.get(key);
  if (!grid) {
    const size = 1 / correlation - 1;
    grid = withMean(
      Float64Array.from({ length: GRID }, () => beta(mean * size, (1 - mean) * size, random)).sort(),
      mean,
    );
    grids.set(key, grid);
  }
  const sorted = grid;
  return (share) => sorted[Math.min(GRID - 1, Math.floor(share * GRID))] ?? 0;
}

/** Stretches rates towards 0 or 1: a drawn sample misses its mean by up to 0.7 points, and then a null has a difference. */
function withMean(rates: Float64Array, mean: number): Float64Array {
  const drawn = rates.reduce((total, rate) => total + rate, 0) / rates.length;
  return rates.map((rate) =>
    drawn > mean ? (rate * mean) / drawn : 1 - ((1 - rate) * (1 - mean)) / (1 - drawn),
  );
}

/** Tasks whose two rates have these means; `between` is the correlation of a task's two rates (Gaussian copula). */
export function pairedRates(
  [baseline, variant]: readonly [number, number],
  { within, between }: { within: number; between: number },
  random: Random,
): RateScenario {
  const ofBaseline = ratesOf(baseline, within, random);
  const ofVariant = ratesOf(variant, within, random);
  return {
    name: `${baseline} → ${variant}, within ${within}, between ${between}`,
    draw(next) {
      const [first, second] = [normal(next), normal(next)];
      const other = between * first + Math.sqrt(1 - between ** 2) * second;
      return [ofBaseline(normalCdf(first)), ofVariant(normalCdf(other))];
    },
  };
}

/** No mean difference, but 20 % of the tasks go from .3 to .9 and the rest from .3 to .15. */
export function skewedNull(within: number, random: Random): RateScenario {
  const [before, gained, lost] = [0.3, 0.9, 0.15].map((mean) => ratesOf(mean, within, random));
  return {
    name: `skewed, within ${within}`,
    draw(next) {
      const place = next();
      return [before?.(place) ?? 0, (next() < 0.2 ? gained : lost)?.(place) ?? 0];
    },
  };
}

/** The scenarios without a difference. */
export function nullScenarios(random: Random): RateScenario[] {
  const correlations = [0.3, 0.5, 0.7];
  const pairs = correlations.flatMap((within) =>
    [0.1, 0.3, 0.5, 0.8].flatMap((mean) =>
      [0.7, 1].map((between) => pairedRates([mean, mean], { within, between }, random)),
    ),
  );
  const fixed: RateScenario = {
    name: 'skewed, every task alike',
    draw: (next) => (next() < 0.2 ? [0.3, 0.9] : [0.3, 0.15]),
  };
  return [...pairs, ...correlations.map((within) => skewedNull(within, random)), fixed];
}

/** The differences of so many tasks of a scenario. */
export function drawTasks(
  { draw }: RateScenario,
  { tasks, trials }: { tasks: number; trials: number },
  random: Random,
): TaskDifference[] {
  return Array.from({ length: tasks }, () => {
    const [baseline, variant] = draw(random);
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

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function beta(a: number, b: number, random: Random): number {
  const first = gamma(a, random);
  return first / (first + gamma(b, random));
}

/** Marsaglia and Tsang, 2000. */
function gamma(shape: number, random: Random): number {
  if (shape < 1) return gamma(shape + 1, random) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}
