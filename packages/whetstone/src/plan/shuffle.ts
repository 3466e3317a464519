import { createHash } from 'node:crypto';

/** Returns whole numbers from 0 to `bound` - 1, all equally likely. */
export type RandomSource = (bound: number) => number;

/**
 * Random numbers that depend only on a seed and a purpose: the 32-bit words of sha256 over seed, purpose and a counter.
 * They are the same on every platform and in every version. Two purposes of one seed are independent.
 */
export function seededRandom(seed: string, purpose: string): RandomSource {
  let counter = 0;
  let words: number[] = [];
  const nextWord = (): number => {
    const word = words.pop();
    if (word !== undefined) return word;
    const block = createHash('sha256')
      .update(JSON.stringify([seed, purpose, counter]))
      .digest();
    counter += 1;
    words = Array.from({ length: 8 }, (_, index) => block.readUInt32BE(index * 4));
    return nextWord();
  };
  return (bound) => {
    // Words above the last whole multiple of the bound would favour small numbers.
    const limit = 2 ** 32 - (2 ** 32 % bound);
    let word = nextWord();
    while (word >= limit) word = nextWord();
    return word % bound;
  };
}

/** A shuffled copy (Fisher–Yates). */
export function shuffle<Item>(items: readonly Item[], random: RandomSource): Item[] {
  const rest = [...items];
  const shuffled: Item[] = [];
  while (rest.length > 0) shuffled.push(...rest.splice(random(rest.length), 1));
  return shuffled;
}
