/** One stored tree that was verified `runs` times, twice or more, and passed in `passed` of them. */
export type Reverified = { passed: number; runs: number };

/** The chance that two verifications of this tree disagree; it is not biased by the number of runs. */
export function disagreement({ passed, runs }: Reverified): number {
  const share = passed / runs;
  return (2 * share * (1 - share) * runs) / (runs - 1);
}

/**
 * The standard deviation that the verifier alone gives a mean over tasks of differences: each task has the trees of both arms,
 * each tree one verdict, with a variance of half its disagreement.
 */
export function verifierDeviation(
  tasks: readonly { variant: readonly Reverified[]; baseline: readonly Reverified[] }[],
): number {
  const ofArm = (trees: readonly Reverified[]) =>
    trees.reduce((sum, tree) => sum + disagreement(tree) / 2, 0) / trees.length ** 2;
  const variance = tasks.reduce((sum, { variant, baseline }) => sum + ofArm(variant) + ofArm(baseline), 0);
  return Math.sqrt(variance) / tasks.length;
}

/**
 * The share of a true difference that verdicts with such a disagreement show, if the verifier is wrong as often about work
 * that passes as about work that fails: 1 − 2ε with 2ε(1 − ε) = disagreement (statistics, R9). `null` above ½: then the
 * disagreement is not explained by rare errors.
 */
export function shownShare(disagreements: number): number | null {
  return disagreements > 0.5 ? null : Math.sqrt(1 - 2 * disagreements);
}
