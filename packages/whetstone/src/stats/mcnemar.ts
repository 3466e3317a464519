/**
 * Exact two-sided McNemar test: how unlikely is this split of `gained` + `lost` pairs that differ, if both directions
 * were equally likely? min(1, 2·Σ_{i ≤ min} C(n, i)·2⁻ⁿ). With fewer than six pairs that differ it is never below 0.05.
 */
export function mcnemarExact(gained: number, lost: number): number {
  const count = gained + lost;
  let term = 1;
  let sum = 1;
  let exponent = 1 - count;
  for (let i = 1; i <= Math.min(gained, lost); i++) {
    term *= (count - i + 1) / i;
    sum += term;
    // Scaled by a power of two, which is exact, so that thousands of pairs do not overflow.
    if (sum > 2 ** 500) {
      term *= 2 ** -500;
      sum *= 2 ** -500;
      exponent += 500;
    }
  }
  return Math.min(1, sum * 2 ** exponent);
}
