import { present } from '@whetstone/events/present';
import type { Claim, Verdict } from '../assertions/assertion.ts';
import { callText } from '../assertions/call-text.ts';
import type { Assert } from '../assertions/create-assert.ts';
import { requireKeys, requireWord } from '../expect/arguments.ts';
import type { JudgedPart } from '../judge/judgement.ts';
import type { TestCalls } from '../protocol.ts';
import type { JudgeAssertions } from '../test-context.ts';

/** `judge` of `t`, a session or a turn: the run asks the judge about the turns up to the call. */
export function judgeOf(
  assert: Assert,
  ask: TestCalls['judge'],
  material: () => JudgedPart[],
): JudgeAssertions {
  return {
    judge: function judge(rubric, options = {}) {
      const criteria: readonly string[] = typeof rubric === 'string' ? [rubric] : rubric;
      if (!Array.isArray(criteria) || criteria.length === 0 || !criteria.every(isCriterion)) {
        throw new RangeError('judge(): a criterion is a text that is not empty.');
      }
      requireKeys('judge()', options, ['of', 'votes', 'by']);
      const { of, votes, by } = options;
      if (by !== undefined) requireWord('judge(): by', 'a judge', by, ['model', 'agent']);
      if (votes !== undefined && !(Number.isInteger(votes) && votes >= 1 && votes <= 25)) {
        throw new RangeError(`judge({ votes: ${votes} }): votes are a whole number from 1 to 25.`);
      }
      // An answer that the agent did not give is judged as `undefined`, not as if the turns had been meant.
      const turns = 'of' in options ? undefined : material();
      const verdict = async (): Promise<Verdict> => {
        const asked = turns ?? [{ given: textOf(await of) }];
        const request = { criteria, material: asked, ...present({ votes }), ...present({ by }) };
        const { status, message, score, events, text } = await ask(request);
        return {
          status,
          message,
          events,
          ...(text !== '' && { text }),
          ...present({ score }),
        };
      };
      const claim: Claim = { name: callText('judge', rubric), verdict: verdict() };
      return assert(claim, judge);
    },
  };
}

const isCriterion = (given: unknown): boolean => typeof given === 'string' && given.trim() !== '';

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? String(value));
