import { expect, test } from 'vitest';
import { seededRandom, seededWords } from './seeded-random.ts';

test('the same seed gives the same numbers, another seed others', () => {
  const take = (seed: string) => Array.from({ length: 5 }, seededWords(seed));
  expect(take('a')).toEqual(take('a'));
  expect(take('a')).not.toEqual(take('b'));
});

test('numbers are even over [0, 1)', () => {
  const random = seededRandom('even');
  const counts = Array.from({ length: 10 }, () => 0);
  for (let i = 0; i < 10_000; i++) {
    const bin = Math.floor(random() * 10);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  expect(counts).toHaveLength(10);
  // Chi-square with 9 degrees of freedom: 27.9 has p = 0.001.
  expect(counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0)).toBeLessThan(27.9);
});
