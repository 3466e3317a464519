import type { AssertionRecord } from '../eval/assertions/assertion.ts';
import type { CaseRow } from '../record/row.ts';

/** What a row says about assertions. */
export const assertionFields = (
  assertions: readonly AssertionRecord[],
): Pick<CaseRow, 'assertions' | 'score' | 'max_score'> => ({
  assertions: assertions.map(shortAssertion),
  ...gradeOf(assertions),
});

/** An assertion as a row has it: `assertions.json` of the case has the whole text of its evidence. */
function shortAssertion({ evidence: { events, text }, message, ...rest }: AssertionRecord): AssertionRecord {
  const short = (long: string) => (long.length > SHORT ? `${long.slice(0, SHORT)}…` : long);
  const evidence = { events: events.slice(0, 20), ...(text !== undefined && { text: short(text) }) };
  return { ...rest, message: short(message), evidence };
}

const SHORT = 500;

/** The points of the graded assertions that could be evaluated. */
function gradeOf(assertions: readonly AssertionRecord[]): Pick<CaseRow, 'score' | 'max_score'> {
  const graded = assertions.filter(({ points, status }) => points !== undefined && status !== 'unavailable');
  if (graded.length === 0) return {};
  const sum = (of: (one: AssertionRecord) => number) => graded.reduce((total, one) => total + of(one), 0);
  return {
    score: sum(({ score, status, points = 0 }) => points * (score ?? (status === 'passed' ? 1 : 0))),
    max_score: sum(({ points = 0 }) => points),
  };
}
