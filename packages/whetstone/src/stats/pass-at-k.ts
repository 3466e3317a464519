/**
 * pass@k: the chance that at least one of `k` trials drawn from `trials` passes, 1 − Π_{i=n−c+1}^{n} (1 − k/i) (Chen
 * et al. 2021). NaN when there are fewer than `k` trials. Not valid where trials stopped at the first pass.
 */
export function passAtK(trials: number, passed: number, k: number): number {
  if (trials < k) return Number.NaN;
  if (trials - passed < k) return 1;
  let allFail = 1;
  for (let i = trials - passed + 1; i <= trials; i++) allFail *= 1 - k / i;
  return 1 - allFail;
}

/** pass^k: the chance that all of `k` trials drawn from `trials` pass, C(c, k)/C(n, k) (τ-bench). NaN below `k`. */
export function passHatK(trials: number, passed: number, k: number): number {
  if (trials < k) return Number.NaN;
  let allPass = 1;
  for (let i = 0; i < k; i++) allPass *= Math.max(0, passed - i) / (trials - i);
  return allPass;
}
