import { describe, expect, test } from 'vitest';
import { eValue } from './e-value.ts';
import { seededRandom } from './seeded-random.ts';

const flips = (better: number, worse: number): number[] => [
  ...Array.from({ length: better }, () => 1),
  ...Array.from({ length: worse }, () => -1),
];

describe('the e-value', () => {
  test.each([
    [6, 0, 9.14],
    [7, 0, 16],
    [8, 0, 28.44],
    [9, 1, 9.31],
    [10, 1, 15.52],
    [12, 2, 12],
  ])('of %i flips for and %i against is the mixture of the reference', (better, worse, expected) => {
    expect(eValue(flips(better, worse)) / expected).toBeCloseTo(1, 2);
  });

  test('is 1 without tasks, and not changed by tasks without a difference or by their order', () => {
    expect(eValue([])).toBe(1);
    expect(eValue([0.5, 0, 0, -0.25])).toBeCloseTo(eValue([-0.25, 0.5]), 12);
  });

  test('rarely reaches 20 at any look where there is no difference', () => {
    const random = seededRandom('peeking');
    const isFooled = () => {
      const seen: number[] = [];
      for (let task = 0; task < 60; task += 1) {
        seen.push((Math.floor(random() * 3) - 1) * (random() < 0.5 ? 1 : 0.5));
        if (eValue(seen) >= 20) return true;
      }
      return false;
    };
    const fooled = Array.from({ length: 200 }, isFooled).filter(Boolean).length;
    expect(fooled / 200).toBeLessThan(0.06);
  });
});
