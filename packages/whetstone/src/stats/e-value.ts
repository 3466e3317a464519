/** Points at which the bets are averaged: the midpoints of as many parts of (−1, 1). */
const BETS = 200;

/**
 * How strongly differences from −1 to 1, one per task, speak against a mean of 0: the capital of a bettor who starts with 1,
 * averaged over all bets λ in (−1, 1): ½ ∫ Π (1 + λ d_t) dλ. While the mean is 0, it reaches 1/α with a chance of at most α over
 * *all* looks together, whoever decides when to look and when to stop (Ville), so it is for looks that nobody planned. It costs
 * runs: of binary pairs, eight clean flips reach 20, and six reach p < 0.05 at a planned end (statistics, 10 and R4). It does not
 * depend on the order of the tasks.
 */
export function eValue(differences: readonly number[]): number {
  const bet = openBets();
  return differences.reduce((_, difference) => bet(difference), 1);
}

/** The same one task after the other: each call adds a difference and returns the e-value so far. */
export function openBets(): (difference: number) => number {
  const bets = Array.from({ length: BETS }, (_, i) => ({ share: (2 * i + 1) / BETS - 1, capital: 1 }));
  return (difference) => {
    let total = 0;
    for (const bet of bets) {
      bet.capital *= 1 + bet.share * difference;
      total += bet.capital;
    }
    return total / BETS;
  };
}
