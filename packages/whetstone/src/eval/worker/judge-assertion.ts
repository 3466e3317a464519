import { present } from '@whetstone/events/present';
import type { Claim, Verdict } from '../assertions/assertion.ts';
import { callText } from '../assertions/call-text.ts';
import type { Assert } from '../assertions/create-assert.ts';
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
    judge: function judge(rubric, { of, votes, by } = {}) {
      const criteria = typeof rubric === 'string' ? [rubric] : [...rubric];
      if (criteria.length === 0 || criteria.some((criterion) => String(criterion).trim() === '')) {
        throw new RangeError('judge(): a criterion is a text that is not empty.');
      }
      if (votes !== undefined && !(Number.isInteger(votes) && votes >= 1 && votes <= 25)) {
        throw new RangeError(`judge({ votes: ${votes} }): votes are a whole number from 1 to 25.`);
      }
      const turns = of === undefined ? material() : undefined;
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

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? String(value));
