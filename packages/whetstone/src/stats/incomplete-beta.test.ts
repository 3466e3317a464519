import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { incompleteBeta, logGamma } from './incomplete-beta.ts';

const shape = fc.integer({ min: 1, max: 30 });
const unit = fc.double({ min: 0, max: 1, noNaN: true });

test('logGamma is the logarithm of the factorial, and of √π at a half', () => {
  let factorial = 1;
  for (let n = 1; n <= 20; n++) {
    expect(logGamma(n)).toBeCloseTo(Math.log(factorial), 11);
    factorial *= n;
  }
  expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.PI) / 2, 12);
});

describe('incompleteBeta', () => {
  test('is a binomial tail at whole numbers', () => {
    fc.assert(
      fc.property(unit, shape, shape, (x, a, b) => {
        expect(incompleteBeta(x, a, b)).toBeCloseTo(binomialTail(a + b - 1, a, x), 9);
      }),
    );
  });

  test('ends at 0 and 1', () => {
    expect(incompleteBeta(0, 2, 3)).toBe(0);
    expect(incompleteBeta(1, 2, 3)).toBe(1);
  });
});

/** P(at least `least` of `count` succeed), by plain addition. */
function binomialTail(count: number, least: number, rate: number): number {
  let tail = 0;
  let choose = 1;
  for (let i = 0; i <= count; i++) {
    if (i > 0) choose *= (count - i + 1) / i;
    if (i >= least) tail += choose * rate ** i * (1 - rate) ** (count - i);
  }
  return tail;
}
