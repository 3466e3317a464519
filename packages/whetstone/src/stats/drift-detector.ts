import type { NightScore } from './night-score.ts';

/**
 * The sizes of drift, in standard deviations of the passes of one night, that the detector bets on, each in both directions. A drift
 * between them is found almost as fast.
 */
const SHIFTS = [0.5, 1, 2] as const;

/** On average, at most one false alarm in so many nights, over all agents of a suite together. */
export const NIGHTS_PER_FALSE_ALARM = 200;

/**
 * The evidence that alarms, for one agent. Scores are standard normal whatever the suite is, so that one simulation settles it, and
 * a multiple of the bound has a multiple of the nights (`npm run bench -- truth`).
 */
const THRESHOLD = 40;

/** The evidence at which one of so many agents alarms. */
export const alarmAt = (agents: number): number => THRESHOLD * agents;

/**
 * Watches the scores of nights for a lasting change. Each call takes one more, and returns the evidence for a drift since some night:
 * 1 or less means none.
 *
 * For each size λ of drift, and each night with which it may have begun, the bets of all nights since multiply:
 * Π exp(λw z − (λw)²/2). A night is compared with all before it, and more and more of these are nights of the drift too: w is
 * how much of the drift its score then still has. The largest product over all first nights, averaged over the sizes, is
 * an e-detector (Shin, Ramdas and Rinaldo, 2024): without a drift, the number of nights until it reaches A is at least A on average,
 * because each product is expected to stay at 1, and there is one more of them every night. `null` scores add nothing.
 */
export function openDetector(): (night: NightScore | null) => number {
  const bets = SHIFTS.flatMap((size) => [size, -size]);
  const starts: { before: number; logs: Float64Array }[] = [];
  return (night) => {
    if (night !== null) {
      starts.push({ before: night.before, logs: new Float64Array(bets.length) });
      // Plain loops: a simulation comes here millions of times.
      for (const { before, logs } of starts) {
        const weight = shareOf(before, night);
        for (let i = 0; i < bets.length; i += 1) {
          const bet = (bets[i] ?? 0) * weight;
          logs[i] = (logs[i] ?? 0) + bet * night.score - bet ** 2 / 2;
        }
      }
    }
    let total = 0;
    for (let i = 0; i < bets.length; i += 1) {
      let best = Number.NEGATIVE_INFINITY;
      for (const { logs } of starts) best = Math.max(best, logs[i] ?? 0);
      total += Math.exp(best);
    }
    return total / bets.length;
  };
}

/**
 * What of a drift that began after `start` trials the score of a later night has: its own trials have all of it, and those that they are
 * compared with a part.
 */
function shareOf(start: number, { before, tonight }: NightScore): number {
  return Math.min(1, start / before) * Math.sqrt(before / (before + tonight));
}

/** The night, as an index, with which a drift most likely began, and its direction: the largest |Σ w z| / √Σ w² up to the last one. */
export function likeliestStart(nights: readonly (NightScore | null)[]): { start: number; sum: number } {
  let best = { start: nights.length - 1, sum: 0, size: -1 };
  for (const [start, first] of nights.entries()) {
    if (first === null) continue;
    let [sum, squares] = [0, 0];
    for (const night of nights.slice(start)) {
      if (night === null) continue;
      const weight = shareOf(first.before, night);
      sum += weight * night.score;
      squares += weight ** 2;
    }
    const size = Math.abs(sum) / Math.sqrt(squares);
    if (size > best.size) best = { start, sum, size };
  }
  return { start: best.start, sum: best.sum };
}
