import fc from 'fast-check';
import { expect, test } from 'vitest';
import { trend } from './trend.ts';

test('a line is found with its height, and a mirrored one with the same certainty', () => {
  const rising = Array.from({ length: 20 }, (_, i) => i / 19);
  expect(trend([rising])?.change).toBeCloseTo(1, 12);
  expect(trend([rising])?.pValue).toBeLessThan(0.0001);
  const falling = trend([rising.toReversed()]);
  expect(falling?.change).toBeCloseTo(-1, 12);
  expect(falling?.pValue).toBeCloseTo(trend([rising])?.pValue ?? 0, 12);
});

test('the variance is that of all orders', () => {
  // 1 at the end of four: covariance 1.5; all orders: 1.5, 0.5, −0.5, −1.5, so that its variance is 1.25.
  const twice = trend([
    [0, 0, 0, 1],
    [0, 0, 0, 1],
  ]);
  const z = 3 / Math.sqrt(2.5);
  expect(z).toBeCloseTo(1.897, 3);
  expect(twice?.pValue).toBeCloseTo(0.0578, 3);
});

test('a difference between strata is not a trend', () => {
  expect(
    trend([
      [0, 0, 0, 0],
      [1, 1, 1, 1],
    ]),
  ).toEqual({ change: 0, pValue: null });
  expect(trend([[0, 1], [1]])).toBeNull();
});

test('a p-value is a probability, whatever the values', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.constantFrom(0, 0.5, 1), { maxLength: 12 }), { maxLength: 6 }),
      (strata) => {
        const found = trend(strata);
        if (found === null || found.pValue === null) return;
        expect(found.pValue).toBeGreaterThanOrEqual(0);
        expect(found.pValue).toBeLessThanOrEqual(1);
        expect(Math.abs(found.change)).toBeLessThanOrEqual(2);
      },
    ),
  );
});
