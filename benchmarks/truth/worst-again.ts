import { wilson } from '../../packages/whetstone/src/stats/wilson-interval.ts';

/** Of false positives, in per cent. With 8 tasks and few trials, a rule that stays below 5 % finds hardly anything. */
export const limitOf = (tasks: number): number => (tasks === 8 ? 5.5 : 5);

export type Measured = {
  /** In per cent. */
  share: number;
  /** With its 95 % interval for the number of replications. */
  shown: string;
};

/**
 * The largest of the shares that `count` finds among candidates. The largest of many that were simulated is too large by chance, so
 * the three that look worst are simulated again, with other draws and many more of them.
 * @param count How many of so many replications of a candidate are as asked.
 */
export function worstAgain<Candidate>(
  candidates: readonly Candidate[],
  { first, again }: { first: number; again: number },
  count: (candidate: Candidate, replications: number) => number,
): Measured {
  const worst = candidates
    .map((candidate) => ({ candidate, found: count(candidate, first) }))
    .sort((a, b) => b.found - a.found)
    .slice(0, 3)
    .map(({ candidate }) => measured(count(candidate, again), again));
  return worst.reduce((most, one) => (one.share > most.share ? one : most));
}

export function measured(found: number, replications: number): Measured {
  const { low, high } = wilson(found, replications);
  const [from, to] = [low, high].map((one) => (100 * one).toFixed(2));
  const share = (100 * found) / replications;
  return { share, shown: `${share.toFixed(2)} [${from}, ${to}]` };
}
