import { incompleteBeta } from './incomplete-beta.ts';

/** P(X ≤ t) of Student's t distribution with `degreesOfFreedom` > 0 (not necessarily whole). */
export function studentTCdf(t: number, degreesOfFreedom: number): number {
  const tail = 0.5 * incompleteBeta(degreesOfFreedom / (degreesOfFreedom + t * t), degreesOfFreedom / 2, 0.5);
  return t > 0 ? 1 - tail : tail;
}

/**
 * The t with P(X ≤ t) = `probability`, by bisection to the last bit.
 * @throws RangeError when `probability` is not strictly between 0 and 1, or `degreesOfFreedom` is not above 0.
 */
export function studentTQuantile(probability: number, degreesOfFreedom: number): number {
  if (!(probability > 0 && probability < 1))
    throw new RangeError(`probability ${probability} is not within (0, 1)`);
  if (!(degreesOfFreedom > 0)) throw new RangeError(`degrees of freedom ${degreesOfFreedom} are not above 0`);
  if (probability === 0.5) return 0;
  if (probability < 0.5) return -studentTQuantile(1 - probability, degreesOfFreedom);
  const key = `${probability} ${degreesOfFreedom}`;
  const known = quantiles.get(key) ?? bisect(probability, degreesOfFreedom);
  if (quantiles.size < MOST_QUANTILES) quantiles.set(key, known);
  return known;
}

/** Bisection takes 40 µs, and simulations ask for the same few quantiles again and again. */
const quantiles = new Map<string, number>();
const MOST_QUANTILES = 1000;

function bisect(probability: number, degreesOfFreedom: number): number {
  let low = 0;
  let high = 1;
  while (studentTCdf(high, degreesOfFreedom) < probability && high < 1e300) high *= 2;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (studentTCdf(middle, degreesOfFreedom) < probability) low = middle;
    else high = middle;
  }
}
