import { z } from 'zod';
import { plural, show } from '../expect/show.ts';
import { jsonIn } from './json-in.ts';
import type { CriterionVote, Vote } from './judgement.ts';
import type { Material } from './material.ts';

const answerShape = z.object({
  criteria: z.array(
    z.object({
      met: z.enum(['yes', 'no', 'unclear']),
      reason: z.string(),
      quotes: z.array(z.string()),
    }),
  ),
  manipulation: z.string().nullish(),
});

/** Reads the answer of a judge as a vote. It counts only if it has the right shape and its quotes are in the material. */
export function readVote(answer: string, criteria: readonly string[], material: Material): Vote {
  const read = answerShape.safeParse(jsonIn(answer));
  if (!read.success) return { problem: `the answer of the judge is not a verdict: ${show(answer)}` };
  const given = read.data.criteria;
  if (given.length !== criteria.length) {
    const wanted = plural(criteria.length, 'verdict');
    return { problem: `the judge gave ${plural(given.length, 'verdict')}, and ${wanted} were wanted` };
  }
  const checked: CriterionVote[] = [];
  for (const one of given) {
    const events: number[] = [];
    for (const quote of one.quotes) {
      const source = material.find(quote);
      if (!source.found) {
        const what = source.isTooShort ? 'too little to check' : 'what is not in the material';
        return { problem: `the judge quotes ${what}: ${show(quote)}` };
      }
      const { event } = source;
      if (event !== undefined) events.push(event);
    }
    if (one.met === 'yes' && one.quotes.length === 0 && material.lines.length > 0) {
      return { problem: 'the judge quotes nothing that shows that the criterion is met' };
    }
    checked.push({ ...one, events });
  }
  return { criteria: checked, manipulation: read.data.manipulation ?? '' };
}
