import { expect, test } from 'vitest';
import { ASSUMED_SPREAD, estimateSpread, spreadWith } from './spread.ts';

const counts = (variant: number, baseline: number, trials = 2) => ({
  variant: { passed: variant, trials },
  baseline: { passed: baseline, trials },
});

test('the noise of trials is taken out of the spread over tasks', () => {
  // Differences 1, 0, ½, ½: variance 1/6. p(1 − p) without bias: ½ for each rate of one half.
  const found = estimateSpread([counts(2, 0), counts(1, 1), counts(2, 1), counts(1, 0)]);
  expect(found?.spread.within).toBeCloseTo((0 + 1 + 0.5 + 0.5) / 4, 12);
  expect(found?.spread.between).toBeCloseTo(0, 12);
  const sure = estimateSpread([counts(2, 0), counts(0, 0), counts(2, 2), counts(2, 0)]);
  expect(sure).toEqual({ spread: { between: expect.closeTo(1 / 3, 12), within: 0 }, isDivided: true });
});

test('with one trial per arm only the sum is measured', () => {
  const found = estimateSpread([counts(1, 0, 1), counts(0, 0, 1), counts(1, 1, 1), counts(1, 0, 1)]);
  expect(found?.isDivided).toBe(false);
  expect(spreadWith(found?.spread ?? ASSUMED_SPREAD, 1) ** 2).toBeCloseTo(1 / 3, 12);
  expect(estimateSpread([counts(1, 0)])).toBeNull();
});
