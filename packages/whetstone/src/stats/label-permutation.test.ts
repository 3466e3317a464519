import fc from 'fast-check';
import { expect, test } from 'vitest';
import { labelPermutationP, signFlipP, type TaskCounts } from './label-permutation.ts';

const task = (variant: [number, number], baseline: [number, number]): TaskCounts => ({
  variant: { passed: variant[0], trials: variant[1] },
  baseline: { passed: baseline[0], trials: baseline[1] },
});

test('one task is Fisher’s exact test', () => {
  expect(labelPermutationP([task([7, 10], [9, 10])])).toBeCloseTo(0.582, 4);
});

const pairs = (gained: number, lost: number): TaskCounts[] => [
  ...Array.from({ length: gained }, () => task([1, 1], [0, 1])),
  ...Array.from({ length: lost }, () => task([0, 1], [1, 1])),
];

test.each([
  [2, 0, 0.5],
  [5, 0, 0.0625],
  [6, 0, 0.03125],
  [7, 1, 0.0703],
  [8, 1, 0.0391],
  [9, 1, 0.0215],
  [10, 3, 0.0923],
])('%d gained and %d lost pairs of one trial: McNemar’s exact p', (gained, lost, p) => {
  expect(labelPermutationP(pairs(gained, lost))).toBeCloseTo(p, 4);
  expect(signFlipP([...Array(gained).fill(1), ...Array(lost).fill(-1)], 1)).toBeCloseTo(p, 4);
});

test('the sign-flip vector of the reference', () => {
  expect(signFlipP([1, 0, 0.5, 1, -0.5, 0, 1, 0.5, 0, 0.25], 4)).toBe(80 / 1024);
  expect(() => signFlipP([1 / 3], 4)).toThrow(RangeError);
});

test('it counts every way to deal the trials, whatever their numbers', () => {
  const arm = fc
    .integer({ min: 1, max: 3 })
    .chain((trials) =>
      fc.record({ trials: fc.constant(trials), passed: fc.integer({ min: 0, max: trials }) }),
    );
  const tasks = fc.array(fc.record({ variant: arm, baseline: arm }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(tasks, (given) => {
      expect(labelPermutationP(given)).toBeCloseTo(byEnumeration(given), 9);
    }),
    { numRuns: 60 },
  );
});

test('a hundred tasks take no time worth naming, and the order of tasks does not matter', () => {
  const many = Array.from({ length: 100 }, (_, i) => task([i % 6, 5], [(i * 7) % 5, 4]));
  const p = labelPermutationP(many);
  expect(labelPermutationP(many.toReversed())).toBeCloseTo(p, 9);
  expect(p).toBeGreaterThan(0);
});

/** Deals the trials of every task in every way. */
function byEnumeration(tasks: readonly TaskCounts[]): number {
  const rate = ({ passed, trials }: TaskCounts['variant']) => passed / trials;
  const observed = tasks.reduce((sum, { variant, baseline }) => sum + rate(variant) - rate(baseline), 0);
  let sums = [0];
  for (const { variant, baseline } of tasks) {
    const trials = variant.trials + baseline.trials;
    const passed = variant.passed + baseline.passed;
    const deals = subsets(trials, variant.trials).map((chosen) => {
      const got = chosen.filter((index) => index < passed).length;
      return got / variant.trials - (passed - got) / baseline.trials;
    });
    sums = sums.flatMap((sum) => deals.map((deal) => sum + deal));
  }
  return sums.filter((sum) => Math.abs(sum) >= Math.abs(observed) - 1e-9).length / sums.length;
}

function subsets(of: number, size: number, from = 0): number[][] {
  if (size === 0) return [[]];
  return Array.from({ length: of - from }, (_, i) => from + i).flatMap((first) =>
    subsets(of, size - 1, first + 1).map((rest) => [first, ...rest]),
  );
}
