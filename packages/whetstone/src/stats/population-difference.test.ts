import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  minimumDetectableDifference,
  populationDifference,
  type TaskDifference,
  tasksNeeded,
} from './population-difference.ts';

const tasksOf = (differences: readonly number[], trials: number): TaskDifference[] =>
  differences.map((difference) => ({ difference, trials: { variant: trials, baseline: trials } }));
const TEN = [1, 0, 0.5, 1, -0.5, 0, 1, 0.5, 0, 0.25];

describe('the vectors of the statistics reference', () => {
  test.each([
    { widening: 0.7, se: 0.15525, low: 0.0238, high: 0.7262 },
    { widening: 1, se: 0.16254, low: 0.0073, high: 0.7427 },
  ])('ten tasks of four trials, c = $widening', ({ widening, se, low, high }) => {
    const { difference, standardError, interval } = populationDifference(tasksOf(TEN, 4), { widening });
    expect(difference).toBe(0.375);
    expect(standardError).toBeCloseTo(se, 5);
    expect(interval?.low).toBeCloseTo(low, 5);
    expect(interval?.high).toBeCloseTo(high, 5);
  });

  test('a hundred equal tasks do not make a result certain', () => {
    const alike = tasksOf(Array(100).fill(0), 3);
    expect(populationDifference(alike, { widening: 0.7 }).interval?.high).toBeCloseTo(0.01128, 5);
    expect(populationDifference(alike, { widening: 1, level: 0.9 }).interval?.high).toBeCloseTo(0.01349, 5);
  });

  test('three tasks, and few tasks that all gain', () => {
    const three = populationDifference(tasksOf([1 / 3, 2 / 3, 0], 3), { widening: 0.7 });
    expect(three.standardError).toBeCloseTo(0.21387, 5);
    expect(three.interval?.low).toBeCloseTo(-0.58688, 5);
    const six = populationDifference(tasksOf([1, 1, 1, 1, 1, 1], 1), { widening: 0.7 });
    expect(six.interval?.low).toBeCloseTo(0.60734, 5);
    const four = populationDifference(tasksOf([1, 1, 1, 1], 5), { widening: 0.7 });
    expect(four.interval?.low).toBeCloseTo(0.68495, 5);
  });
});

test('the interval excludes 0 exactly where p is below 5 %', () => {
  const tasks = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 2, maxLength: 30 });
  fc.assert(
    fc.property(tasks, (thirds) => {
      const differences = thirds.map((third) => third / 3);
      const { interval, pValue } = populationDifference(tasksOf(differences, 3));
      const isExcluded = (interval?.low ?? 0) > 0 || (interval?.high ?? 0) < 0;
      expect(isExcluded).toBe((pValue ?? 1) < 0.05);
    }),
  );
});

test('one task more or less in agreement moves the interval a little', () => {
  const alike = populationDifference(tasksOf(Array(100).fill(0), 3));
  const oneDiffers = populationDifference(tasksOf([1 / 3, ...Array(99).fill(0)], 3));
  expect(oneDiffers.interval?.high).toBeLessThan((alike.interval?.high ?? 0) + 0.01);
});

test('one task gives no interval, and no task is an error', () => {
  expect(populationDifference(tasksOf([1], 3))).toMatchObject({
    difference: 1,
    interval: null,
    pValue: null,
  });
  expect(() => populationDifference([])).toThrow(RangeError);
});

test('the tasks that a difference needs can detect it, and one task fewer cannot', () => {
  const spread = fc.double({ min: 0.1, max: 0.7, noNaN: true });
  const target = fc.double({ min: 0.05, max: 0.5, noNaN: true });
  fc.assert(
    fc.property(spread, target, fc.integer({ min: 1, max: 5 }), (sd, effect, trials) => {
      const needed = tasksNeeded(effect, sd, 1 / trials);
      if (needed === null || needed > 2_000) return;
      expect(minimumDetectableDifference(needed, sd, 1 / trials)).toBeLessThanOrEqual(effect);
      if (needed > 4) expect(minimumDetectableDifference(needed - 1, sd, 1 / trials)).toBeGreaterThan(effect);
    }),
  );
});
