import { expect, test } from 'vitest';
import { passAtK, passHatK } from './pass-at-k.ts';

test.each([
  [10, 7, 1, 0.7],
  [10, 7, 3, 0.991_666_7],
  [10, 3, 5, 0.916_666_7],
  [5, 2, 3, 0.9],
  [3, 3, 3, 1],
  [3, 0, 3, 0],
])('passAtK(%d, %d, %d) = %d', (trials, passed, k, expected) => {
  expect(passAtK(trials, passed, k)).toBeCloseTo(expected, 7);
});

test.each([
  [10, 7, 3, 0.291_666_7],
  [10, 9, 5, 0.5],
  [5, 4, 3, 0.4],
  [3, 2, 3, 0],
  [3, 3, 3, 1],
])('passHatK(%d, %d, %d) = %d', (trials, passed, k, expected) => {
  expect(passHatK(trials, passed, k)).toBeCloseTo(expected, 7);
});

test('both are unknown with fewer trials than k', () => {
  expect(passAtK(2, 2, 3)).toBeNaN();
  expect(passHatK(2, 2, 3)).toBeNaN();
});
