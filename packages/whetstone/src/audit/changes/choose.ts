import { createHash } from 'node:crypto';
import type { ChangedSolution } from './changed-solution.ts';

/** At most `most` of them: as many of each kind as there can be, and always the same for the same texts. */
export function choose(all: readonly ChangedSolution[], most: number): ChangedSolution[] {
  const rank = new Map(all.map((one) => [one, createHash('sha256').update(one.what).digest('hex')]));
  const kinds = [...Map.groupBy(all, ({ kind }) => kind)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, same]) => same.toSorted((a, b) => ((rank.get(a) ?? '') < (rank.get(b) ?? '') ? -1 : 1)));
  const chosen: ChangedSolution[] = [];
  for (let round = 0; chosen.length < Math.min(most, all.length); round += 1)
    for (const same of kinds) {
      const one = same[round];
      if (one && chosen.length < most) chosen.push(one);
    }
  return chosen;
}
