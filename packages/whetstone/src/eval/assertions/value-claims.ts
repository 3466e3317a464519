import { messageOf } from '@whetstone/errors';
import { requireArgument } from '../expect/arguments.ts';
import type { Match } from '../expect/matcher.ts';
import { isMatcher, type Matcher } from '../expect/matcher.ts';
import type { StandardSchema } from '../expect/standard-schema.ts';
import { equals, matches } from '../expect/values.ts';
import { type MaybeLater, whenKnown } from '../expect/when-known.ts';
import type { Claim, Subject, Verdict } from './assertion.ts';
import { callText } from './call-text.ts';

/** A value, or a promise of it, fits a matcher. */
export function checkClaim<Value>(value: Value | PromiseLike<Value>, matcher: Matcher<Value>): Claim {
  requireArgument(isMatcher(matcher), 'check()', 'a value and a matcher, such as `includes(…)`', matcher);
  const name = callText('check', matcher);
  const isLater = typeof value === 'object' && value !== null && 'then' in value;
  if (!isLater) return { name, verdict: whenKnown(matcher.match(value as Value), toVerdict) };
  const verdict = (async (): Promise<Verdict> => {
    let known: Value;
    try {
      known = await value;
    } catch (error) {
      const why = messageOf(error);
      return { status: 'unavailable', message: `the value could not be had: ${why}` };
    }
    return toVerdict(await matcher.match(known));
  })();
  return { name, verdict };
}

/** The claims about the structured answer of a turn. */
export const outputClaims = {
  outputEquals(subject: Subject, expected: unknown): Claim {
    return { name: callText('outputEquals', expected), verdict: output(subject, equals(expected)) };
  },

  outputMatches(subject: Subject, expected: StandardSchema | Matcher<unknown>): Claim {
    const matcher = isMatcher(expected) ? expected : matches(expected);
    const name = isMatcher(expected) ? callText('outputMatches', expected) : 'outputMatches(schema)';
    return { name, verdict: output(subject, matcher) };
  },
};

/** Without an answer, an agent that can give one has failed; of any other agent nobody knows. */
function output({ data, capabilities }: Subject, matcher: Matcher<unknown>): MaybeLater<Verdict> {
  if (data !== undefined) return whenKnown(matcher.match(data), toVerdict);
  const status = capabilities.structuredOutput ? 'failed' : 'unavailable';
  return { status, message: 'the turn gave no structured answer' };
}

function toVerdict({ status, reason, score }: Match): Verdict {
  const statuses = { matched: 'passed', mismatched: 'failed', unavailable: 'unavailable' } as const;
  return { status: statuses[status], message: reason, ...(score === undefined ? {} : { score }) };
}
