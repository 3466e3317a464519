/**
 * Exact two-sided McNemar test: of `gained` + `lost` pairs that differ, how odd is this split if each way were a coin's
 * toss? min(1, 2·Σ_{i ≤ min} C(n, i)·2⁻ⁿ). Fewer than six pairs that differ can never come below 0.05.
 */
export function mcnemarExact(gained: number, lost: number): number {
  const count = gained + lost;
  let term = 1;
  let sum = 1;
  let exponent = 1 - count;
  for (let i = 1; i <= Math.min(gained, lost); i++) {
    term *= (count - i + 1) / i;
    sum += term;
    // Rescaled by a power of two, which loses no digit, before thousands of pairs overflow.
    if (sum > 2 ** 500) {
      term *= 2 ** -500;
      sum *= 2 ** -500;
      exponent += 500;
    }
  }
  return Math.min(1, sum * 2 ** exponent);
}
