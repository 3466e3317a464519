import { describe, expect, test } from 'vitest';
import { normalQuantile } from './normal.ts';

describe('normalQuantile', () => {
  test.each([
    [0.001, -3.090_232_306],
    [0.02, -2.053_748_911],
    [0.5, 0],
    [0.8, 0.841_621_234],
    [0.975, 1.959_963_985],
    [0.999_9, 3.719_016_485],
  ])('%d → %d', (probability, quantile) => {
    expect(normalQuantile(probability)).toBeCloseTo(quantile, 7);
  });

  test.each([0, 1, Number.NaN])('refuses %d', (probability) => {
    expect(() => normalQuantile(probability)).toThrow(RangeError);
  });
});
