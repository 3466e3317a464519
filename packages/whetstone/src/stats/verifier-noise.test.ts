import { expect, test } from 'vitest';
import { seededRandom } from './seeded-random.ts';
import { disagreement, shownShare, verifierDeviation } from './verifier-noise.ts';

test('the disagreement of a tree does not depend on how often it was verified', () => {
  const random = seededRandom('verifier');
  const chance = 0.2;
  for (const runs of [2, 3, 10]) {
    const trees = Array.from({ length: 20_000 }, () => ({
      passed: Array.from({ length: runs }, random).filter((one) => one < chance).length,
      runs,
    }));
    const mean = trees.reduce((sum, tree) => sum + disagreement(tree), 0) / trees.length;
    expect(mean).toBeCloseTo(2 * chance * (1 - chance), 1.7);
  }
});

test('the deviation of a difference is that of its verdicts', () => {
  const unsure = { passed: 1, runs: 2 }; // two of two disagree: a variance of ½
  const sure = { passed: 2, runs: 2 };
  expect(verifierDeviation([{ variant: [sure], baseline: [sure] }])).toBe(0);
  expect(verifierDeviation([{ variant: [unsure], baseline: [sure] }])).toBeCloseTo(Math.sqrt(0.5));
  const four = [unsure, unsure, unsure, unsure];
  expect(verifierDeviation([{ variant: four, baseline: four }])).toBeCloseTo(Math.sqrt(0.25));
});

test('a verifier that is wrong in a tenth of its verdicts shows four fifths of a difference', () => {
  expect(shownShare(0)).toBe(1);
  expect(shownShare(2 * 0.1 * 0.9)).toBeCloseTo(0.8);
  expect(shownShare(0.6)).toBeNull();
});
