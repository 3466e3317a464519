import { isDeepStrictEqual } from 'node:util';
import { allOf } from './logic.ts';
import { isMatcher, type Match, type Matcher, matched, matchIf, mismatched } from './matcher.ts';
import type { JsonPattern } from './patterns.ts';
import { show } from './show.ts';
import { fits } from './texts.ts';
import { type MaybeLater, whenAllKnown, whenKnown } from './when-known.ts';

/** A part of a JSON value. Of an object, the named fields; of a list, all items in order. */
export function jsonMatch(expected: JsonPattern): Matcher<unknown> {
  return {
    label: `jsonMatch(${show(expected)})`,
    match: (value) => matchJson(value, expected, 'the value'),
  };
}

/** `place` names the value in the reason, for example `input.command`. */
export function matchJson(value: unknown, expected: JsonPattern, place: string): MaybeLater<Match> {
  if (isMatcher(expected)) {
    return whenKnown((expected as Matcher<unknown>).match(value), (match) => ({
      ...match,
      reason: `${place}: ${match.reason}`,
    }));
  }
  if (value === undefined) return mismatched(`${place} is missing`);
  if (expected instanceof RegExp) {
    const isMatch = typeof value === 'string' && fits(value, expected);
    return matchIf(isMatch, `${place} is ${show(value)}`);
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(value) || value.length !== expected.length) {
      return mismatched(`${place} is ${show(value)}`);
    }
    const parts = expected.map((part, index) =>
      matchJson(value[index], part as JsonPattern, `${place}[${index}]`),
    );
    return whenAllKnown(parts, (matches) => settled(matches, value, place));
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return mismatched(`${place} is ${show(value)}`);
    }
    const parts = Object.entries(expected).map(([key, part]) =>
      matchJson(
        Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined,
        part as JsonPattern,
        place.startsWith('the ') ? key : `${place}.${key}`,
      ),
    );
    return whenAllKnown(parts, (matches) => settled(matches, value, place));
  }
  return matchIf(isDeepStrictEqual(value, expected), `${place} is ${show(value)}`);
}

function settled(matches: readonly Match[], value: unknown, place: string): Match {
  return matches.length === 0 ? matched(`${place} is ${show(value)}`) : allOf(matches);
}
