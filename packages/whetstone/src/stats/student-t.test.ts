import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalQuantile } from './normal.ts';
import { studentTCdf, studentTQuantile } from './student-t.ts';

const degrees = fc.double({ min: 0.5, max: 500, noNaN: true });

describe('studentTQuantile', () => {
  // From the printed tables (NIST/SEMATECH 1.3.6.7.2).
  test.each([
    [0.975, 1, 12.706],
    [0.975, 2, 4.303],
    [0.975, 9, 2.262],
    [0.975, 19, 2.093],
    [0.95, 5, 2.015],
    [0.995, 30, 2.75],
  ])('P = %d, %d degrees of freedom → %d', (probability, degreesOfFreedom, quantile) => {
    expect(studentTQuantile(probability, degreesOfFreedom)).toBeCloseTo(quantile, 3);
  });

  // From arithmetic with 40 digits (mpmath); @stdlib/stats-base-dists-t-quantile gives the same.
  test.each([
    [0.8, 19, 0.860_950_550_268_93],
    [0.95, 9, 1.833_112_932_656_24],
    [0.975, 4.5, 2.658_912_347_204_4],
    [0.995, 199, 2.600_760_216_058_52],
    [0.999_99, 2, 223.603_443_634_546],
  ])('P = %d, %d degrees of freedom → %d, to 9 digits', (probability, degreesOfFreedom, quantile) => {
    expect(studentTQuantile(probability, degreesOfFreedom) / quantile).toBeCloseTo(1, 9);
  });

  test('one degree of freedom is the Cauchy distribution', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 0.99, noNaN: true }), (probability) => {
        expect(studentTQuantile(probability, 1)).toBeCloseTo(Math.tan(Math.PI * (probability - 0.5)), 9);
      }),
    );
  });

  test('is the inverse of the distribution function, and odd around the middle', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 0.99, noNaN: true }), degrees, (probability, df) => {
        expect(studentTCdf(studentTQuantile(probability, df), df)).toBeCloseTo(probability, 10);
        expect(studentTQuantile(1 - probability, df)).toBeCloseTo(-studentTQuantile(probability, df), 8);
      }),
    );
  });

  test('approaches the normal quantile with many degrees of freedom', () => {
    expect(studentTQuantile(0.975, 1e7)).toBeCloseTo(normalQuantile(0.975), 5);
  });

  test('refuses a probability outside 0 to 1, and degrees of freedom that are not above 0', () => {
    expect(() => studentTQuantile(1, 3)).toThrow(RangeError);
    expect(() => studentTQuantile(0.5, 0)).toThrow(RangeError);
  });
});
