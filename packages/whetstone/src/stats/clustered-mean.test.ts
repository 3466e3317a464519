import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clusteredMean } from './clustered-mean.ts';

const rates = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 40 });

describe('clusteredMean', () => {
  test('treats values of one cluster as dependent', () => {
    const estimate = clusteredMean([1, 1, 0, 1, 0, 0, 1, 1], [0, 0, 1, 1, 1, 2, 2, 3]);
    expect(estimate.mean).toBe(0.625);
    expect(estimate.standardError).toBeCloseTo(0.178_609, 6);
    // Without the finite-cluster factor C/(C−1).
    expect((estimate.standardError ?? 0) * Math.sqrt(3 / 4)).toBeCloseTo(0.154_68, 6);
    expect(estimate.degreesOfFreedom).toBe(3);
  });

  test('is sd/√n when each value is its own cluster', () => {
    const estimate = clusteredMean([1, 0, 0.5, 1, -0.5, 0, 1, 0.5, 0, 0.25]);
    expect(estimate.mean).toBeCloseTo(0.375, 12);
    expect(estimate.standardError).toBeCloseTo(0.163_51, 5);
  });

  test('gives no spread for one cluster, and none that comes from rounding', () => {
    expect(clusteredMean([0.4, 0.6], ['a', 'a']).standardError).toBeNull();
    expect(clusteredMean([0.1, 0.1, 0.1]).standardError).toBe(0);
  });

  test('does not depend on the order', () => {
    fc.assert(
      fc.property(rates, (values) => {
        expect(clusteredMean(values.toReversed())).toEqual(clusteredMean(values));
      }),
    );
  });

  test('refuses an empty list, and values without clusters', () => {
    expect(() => clusteredMean([])).toThrow(RangeError);
    expect(() => clusteredMean([1, 2], ['a'])).toThrow(RangeError);
  });
});
