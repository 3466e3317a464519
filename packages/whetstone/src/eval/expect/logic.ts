import { requireMatcher } from './arguments.ts';
import type { Match, Matcher } from './matcher.ts';
import { type MaybeLater, whenAllKnown, whenKnown } from './when-known.ts';

/**
 * Kleene's three-valued logic: a mismatch decides `and`, a match decides `or`, whatever else is unavailable. The score
 * of `and` is the lowest, of `or` the highest, of `not` what is missing to 1.
 */
export function and<Value>(...matchers: readonly Matcher<Value>[]): Matcher<Value> {
  for (const matcher of matchers) requireMatcher('and()', matcher);
  return {
    label: `and(${labels(matchers)})`,
    match: (value) => whenAllKnown(matchesOf(matchers, value), allOf),
  };
}

export function or<Value>(...matchers: readonly Matcher<Value>[]): Matcher<Value> {
  for (const matcher of matchers) requireMatcher('or()', matcher);
  return {
    label: `or(${labels(matchers)})`,
    match: (value) => whenAllKnown(matchesOf(matchers, value), anyOf),
  };
}

const negated = new WeakMap<object, Matcher<never>>();

/** `not(not(matcher))` is the matcher itself. */
export function not<Value>(matcher: Matcher<Value>): Matcher<Value> {
  requireMatcher('not()', matcher);
  const inner = negated.get(matcher);
  if (inner) return inner as Matcher<Value>;
  const opposite: Matcher<Value> = {
    label: `not(${matcher.label})`,
    match: (value) => whenKnown(matcher.match(value), negate),
  };
  negated.set(opposite, matcher as Matcher<never>);
  return opposite;
}

/** All of these; without any, there is nothing that could fail. */
export const allOf = (matches: readonly Match[]): Match => decide(matches, 'mismatched', 'matched', Math.min);
/** Any of these; without any, nothing matched. */
export const anyOf = (matches: readonly Match[]): Match => decide(matches, 'matched', 'mismatched', Math.max);

/** `decisive` settles the whole; else what is unavailable does; else the whole is `other`. */
function decide(
  matches: readonly Match[],
  decisive: Match['status'],
  other: Match['status'],
  scoreOf: (...scores: number[]) => number,
): Match {
  const [only] = matches;
  if (only && matches.length === 1) return only;
  const status =
    [decisive, 'unavailable' as const].find((wanted) => matches.some((match) => match.status === wanted)) ??
    other;
  const reasons = matches.filter((match) => match.status === status).map(({ reason }) => reason);
  const scores = matches.flatMap(({ score }) => score ?? []);
  return {
    status,
    reason: [...new Set(reasons)].join('; and ') || 'there is nothing to check',
    ...(scores.length > 0 && scores.length === matches.length ? { score: scoreOf(...scores) } : {}),
  };
}

function negate({ status, reason, score }: Match): Match {
  const opposite = { matched: 'mismatched', mismatched: 'matched', unavailable: 'unavailable' } as const;
  return { status: opposite[status], reason, ...(score === undefined ? {} : { score: 1 - score }) };
}

function matchesOf<Value>(matchers: readonly Matcher<Value>[], value: Value): MaybeLater<Match>[] {
  return matchers.map((matcher) => matcher.match(value));
}

const labels = (matchers: readonly Matcher<never>[]): string => matchers.map(({ label }) => label).join(', ');
