import { present } from '@whetstone/events/present';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  minimumDetectableDifference,
  populationDifference,
  standardErrorOf,
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

/** What is added to the squares of the differences. */
function added(differences: readonly number[], trials: number, widening?: 'full'): number {
  const { standardError, difference } = populationDifference(
    tasksOf(differences, trials),
    present({ widening }),
  );
  const tasks = differences.length;
  const squares = differences.reduce((sum, one) => sum + (one - difference) ** 2, 0);
  return (standardError ?? 0) ** 2 * tasks * (tasks + 1) - squares;
}

test.each([
  // With one and two trials S has few values, so that more has to be added.
  { tasks: 4, trials: [3, 10], most: 0.19 },
  { tasks: 8, trials: [3, 10], most: 0.288 },
  { tasks: 8, trials: [2], most: 0.4 },
  { tasks: 20, trials: [2, 3, 10], most: 0.14 * Math.sqrt(20) },
  { tasks: 20, trials: [1], most: 0.25 * Math.sqrt(20) },
  { tasks: 10, trials: [1], most: 1.04 },
])('to the squares of $tasks tasks with $trials trials is added $most at most', ({ tasks, trials, most }) => {
  const spread = Array.from({ length: tasks }, (_, i) => (i % 2 === 0 ? 1 : -1));
  for (const count of trials) {
    expect(added(spread, count)).toBeCloseTo(most, 10);
    expect(added(Array(tasks).fill(0), count, 'full')).toBeCloseTo(most, 10);
  }
});

describe('where 20 tasks differ little', () => {
  const few = (size: number) => [size, -size, ...Array(18).fill(0)];

  test('only a share of their squares is added, more with more trials', () => {
    expect(added(few(0.8), 3)).toBeCloseTo(0.25 * 1.28, 10);
    expect(added(few(0.6), 5)).toBeCloseTo(0.375 * 0.72, 10);
    expect(added([1, 1, 1, ...Array(17).fill(0)], 1)).toBeCloseTo(0.125 * 2.55, 10);
  });

  test('squares and what is added are at least half of the most with three trials, and all of it with one', () => {
    expect(added(few(0.1), 3)).toBeCloseTo(0.07 * Math.sqrt(20) - 0.02, 10);
    expect(added(Array(20).fill(0), 1)).toBeCloseTo(0.25 * Math.sqrt(20), 10);
  });

  test('an equivalence needs more, so a small spread does not show one by chance', () => {
    expect(added(few(0.6), 3, 'full')).toBeCloseTo(0.14 * Math.sqrt(20), 10);
  });
});

test('more spread never makes the interval narrower', () => {
  const sizes = fc.tuple(fc.integer({ min: 4, max: 120 }), fc.integer({ min: 1, max: 20 }));
  fc.assert(
    fc.property(sizes, fc.double({ min: 0, max: 60, noNaN: true }), ([tasks, trials], squares) => {
      const noise = 1 / trials;
      const more = standardErrorOf(squares + 0.01, tasks, { noise });
      expect(more).toBeGreaterThan(standardErrorOf(squares, tasks, { noise }) - 1e-12);
    }),
  );
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
