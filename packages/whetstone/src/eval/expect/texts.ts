import { isDeepStrictEqual } from 'node:util';
import { distance } from 'fastest-levenshtein';
import { requireArgument, requireKeys, requireScore } from './arguments.ts';
import { not } from './logic.ts';
import { type Match, type Matcher, matchIf, unavailable } from './matcher.ts';
import type { TextPattern } from './patterns.ts';
import { show } from './show.ts';

/** Whether a text fits: equal to a string, or matched by an expression. An expression's `lastIndex` plays no part. */
export function fits(text: string, pattern: TextPattern): boolean {
  if (typeof pattern === 'string') return text === pattern;
  pattern.lastIndex = 0;
  return pattern.test(text);
}

/** Whether a text contains a string, or an expression matches in it. */
export function contains(text: string, pattern: TextPattern): boolean {
  return typeof pattern === 'string' ? text.includes(pattern) : fits(text, pattern);
}

/** A text contains this text, or a list has an item that equals it. */
export function includes(part: unknown): Matcher<unknown> {
  return {
    label: `includes(${show(part)})`,
    match(value) {
      if (Array.isArray(value)) {
        const has = value.some((item) =>
          part instanceof RegExp && typeof item === 'string'
            ? fits(item, part)
            : isDeepStrictEqual(item, part),
        );
        return matchIf(has, `the list ${has ? 'contains' : 'does not contain'} ${show(part)}`);
      }
      if (typeof part !== 'string' && !(part instanceof RegExp)) return notA('list', value);
      if (typeof value !== 'string') return notA('text', value);
      const has = contains(value, part);
      return matchIf(has, `the text ${show(value)} ${has ? 'contains' : 'does not contain'} ${show(part)}`);
    },
  };
}

export function excludes(part: unknown): Matcher<unknown> {
  const { match } = not(includes(part));
  return { label: `excludes(${show(part)})`, match };
}

/** The expression matches in the text. */
export function pattern(expression: RegExp): Matcher<unknown> {
  requireArgument(expression instanceof RegExp, 'pattern()', 'a regular expression', expression);
  const { match } = includes(expression);
  return { label: `pattern(${show(expression)})`, match };
}

/**
 * How alike two texts are: 1 minus their Levenshtein distance over the length of the longer one. Matches at `atLeast`,
 * default 0.8; the handle of an assertion can set another threshold.
 */
export function similarity(expected: string, options: { atLeast?: number } = {}): Matcher<unknown> {
  requireArgument(typeof expected === 'string', 'similarity()', 'a text', expected);
  requireKeys('similarity()', options, ['atLeast']);
  const { atLeast = 0.8 } = options;
  requireScore('similarity(): atLeast', atLeast);
  return {
    label: `similarity(${show(expected)})`,
    match(value) {
      if (typeof value !== 'string') return notA('text', value);
      const longer = Math.max(value.length, expected.length);
      const score = longer === 0 ? 1 : 1 - distance(value, expected) / longer;
      const reason = `the similarity is ${score.toFixed(2)}, and ${atLeast} is needed`;
      return { ...matchIf(score >= atLeast, reason), score };
    },
  };
}

const notA = (kind: 'text' | 'list', value: unknown): Match =>
  unavailable(value === undefined ? 'there is no value to look at' : `${show(value)} is not a ${kind}`);
