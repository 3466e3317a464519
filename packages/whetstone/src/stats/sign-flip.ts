import { mcnemarExact } from './mcnemar.ts';
import { seededWords } from './seeded-random.ts';

export type SignFlipTest = {
  /** Two-sided. */
  pValue: number;
  method: 'exact' | 'monte-carlo';
};

/** Sums of shares differ in their last bits with the order of adding. Sums closer than this are equal. */
const TOLERANCE = 1e-9;
const EXACT_UP_TO = 20;

/**
 * Two-sided sign-flip permutation test of paired differences. If the two arms were equal, the difference of each task
 * would have either sign with the same chance. Exact over all 2^T sign patterns when at most 20 differences are not
 * zero (zeros do not change the sum), and for any number when all have the same size (then it is McNemar's test).
 * Otherwise it uses `draws` random patterns from `seed`, with p = (1 + #{|Δ*| ≥ |Δ|})/(1 + draws), which is never 0.
 * The order of tasks does not matter.
 */
export function signFlipTest(
  differences: readonly number[],
  { seed = 'sign-flip', draws = 20_000 }: { seed?: string; draws?: number } = {},
): SignFlipTest {
  const moved = differences.filter((difference) => Math.abs(difference) > TOLERANCE);
  const sizes = moved.map(Math.abs).sort((a, b) => b - a);
  const gained = moved.filter((difference) => difference > 0).length;
  if ((sizes[0] ?? 0) - (sizes.at(-1) ?? 0) < TOLERANCE) {
    return { pValue: mcnemarExact(gained, moved.length - gained), method: 'exact' };
  }
  const observed = Math.abs(sum(moved)) - TOLERANCE;
  return sizes.length <= EXACT_UP_TO
    ? { pValue: shareOfPatterns(sizes, observed), method: 'exact' }
    : { pValue: shareOfDraws(sizes, observed, seed, draws), method: 'monte-carlo' };
}

/** Walks the patterns in Gray-code order, one flip per step. The largest difference stays positive, by symmetry. */
function shareOfPatterns(sizes: readonly number[], observed: number): number {
  const signed = [...sizes];
  const patterns = 2 ** (sizes.length - 1);
  let total = sum(signed);
  let extreme = Math.abs(total) >= observed ? 1 : 0;
  for (let pattern = 1; pattern < patterns; pattern++) {
    const flipped = 1 + (31 - Math.clz32(pattern & -pattern));
    const value = signed[flipped] ?? 0;
    total -= 2 * value;
    signed[flipped] = -value;
    if (Math.abs(total) >= observed) extreme++;
  }
  return extreme / patterns;
}

function shareOfDraws(sizes: readonly number[], observed: number, seed: string, draws: number): number {
  const nextWord = seededWords(seed);
  let extreme = 0;
  for (let draw = 0; draw < draws; draw++) {
    let total = 0;
    let word = 0;
    for (const [i, size] of sizes.entries()) {
      if (i % 32 === 0) word = nextWord();
      total += word & 1 ? size : -size;
      word >>>= 1;
    }
    if (Math.abs(total) >= observed) extreme++;
  }
  return (1 + extreme) / (1 + draws);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
