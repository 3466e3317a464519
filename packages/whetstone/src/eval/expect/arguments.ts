import { didYouMean } from '@whetstone/errors/did-you-mean';
import { EVENT_TYPES, eventFields } from '@whetstone/events/reading';
import { isMatcher } from './matcher.ts';
import type { Count, EventPattern, TextPattern, ToolConditions, ToolPattern } from './patterns.ts';
import { show } from './show.ts';

// Evals run without a check of their types. An argument that an assertion can do nothing with would make it pass or
// fail whatever the agent did, so that it is refused at the call: the error has the line of the eval.

/** `method` as it is called: `calledTool()`. `given` is shown. */
export function requireArgument(isRight: boolean, method: string, wanted: string, given: unknown): void {
  if (!isRight) throw new TypeError(`${method} takes ${wanted}, and got ${show(given)}`);
}

/** Throws with the word that was probably meant, and all that there are. */
function refuseWord(method: string, what: string, word: string, known: readonly string[]): never {
  const meant = didYouMean(word, known);
  const hint = meant === undefined ? '' : `: did you mean ${show(meant)}?`;
  throw new TypeError(`${method}: ${show(word)} is not ${what}${hint} (known: ${known.join(', ')})`);
}

export function requireWord(method: string, what: string, word: unknown, known: readonly string[]): void {
  requireArgument(typeof word === 'string', method, `${what} (${known.join(', ')})`, word);
  if (!known.includes(word as string)) refuseWord(method, what, word as string, known);
}

const isFields = (given: unknown): given is object =>
  typeof given === 'object' &&
  given !== null &&
  !(Array.isArray(given) || given instanceof RegExp || isMatcher(given));

/** An object without other keys than these; `undefined` stands for none. */
export function requireKeys(method: string, given: unknown, known: readonly string[]): void {
  if (given === undefined) return;
  requireArgument(isFields(given), method, `an object with ${known.join(', ')}`, given);
  const other = Object.keys(given as object).find((key) => !known.includes(key));
  if (other !== undefined) refuseWord(method, 'one of its keys', other, known);
}

export const requireText = (method: string, given: unknown, what = 'a text that is not empty'): void =>
  requireArgument(typeof given === 'string' && given !== '', method, what, given);

const isPattern = (given: unknown): boolean =>
  (typeof given === 'string' && given !== '') || given instanceof RegExp;

export const requirePattern = (method: string, given: TextPattern): void =>
  requireArgument(isPattern(given), method, 'a text that is not empty, or a regular expression', given);

export function requirePatterns(method: string, given: readonly TextPattern[] | undefined): void {
  const isRight = given === undefined || (Array.isArray(given) && given.every(isPattern));
  requireArgument(isRight, method, 'a list of texts or regular expressions', given);
}

export function requireTool(method: string, given: ToolPattern): void {
  const wanted = 'the name of a tool, a regular expression, or a matcher such as `commandMatch(…)`';
  requireArgument(isPattern(given) || isMatcher(given), method, wanted, given);
}

export const requireMatcher = (method: string, given: unknown): void =>
  requireArgument(isMatcher(given), method, 'matchers, such as `includes(…)`', given);

/** A list with at least one item; `check` looks at each. */
export function requireList<Item>(
  method: string,
  given: readonly Item[],
  check: (method: string, item: Item) => void,
): void {
  requireArgument(Array.isArray(given) && given.length > 0, method, 'a list that is not empty', given);
  for (const item of given) check(method, item);
}

/** A number from 0; with `isWhole`, a whole one. */
export function requireLimit(method: string, given: unknown, { isWhole = true } = {}): void {
  const isLimit = isWhole ? Number.isInteger(given) : Number.isFinite(given);
  const wanted = `a ${isWhole ? 'whole ' : ''}number from 0`;
  requireArgument(isLimit && (given as number) >= 0, method, wanted, given);
}

/** A limit, or a score from 0 to 1. */
export function requireScore(method: string, given: unknown): void {
  const isScore = typeof given === 'number' && given >= 0 && given <= 1;
  requireArgument(isScore, method, 'a score from 0 to 1', given);
}

export function requireCount(method: string, count: Count | undefined): void {
  if (count === undefined || typeof count === 'number') {
    if (count !== undefined) requireLimit(`${method}: count`, count);
    return;
  }
  requireKeys(`${method}: count`, count, ['atLeast', 'atMost']);
  const { atLeast, atMost } = count;
  const isGiven = atLeast !== undefined || atMost !== undefined;
  requireArgument(isGiven, `${method}: count`, 'a number, atLeast or atMost', count);
  for (const limit of [atLeast, atMost]) if (limit !== undefined) requireLimit(`${method}: count`, limit);
  const isPossible = (atLeast ?? 0) <= (atMost ?? Number.POSITIVE_INFINITY);
  requireArgument(isPossible, `${method}: count`, 'an atLeast that is not above atMost', count);
}

const CALL_STATUSES = ['completed', 'failed', 'rejected', 'pending'];

/** `keys`: what there may be besides the conditions on a call. */
export function requireConditions(
  method: string,
  given: (ToolConditions & { count?: Count }) | undefined,
  { keys = ['input', 'output', 'status'], statuses = CALL_STATUSES } = {},
): void {
  requireKeys(method, given, keys);
  if (given?.status !== undefined) requireWord(method, 'a status', given.status, statuses);
  requireCount(method, given?.count);
}

/** The type of an event, a part of its fields, or a matcher. */
export function requireEvent(method: string, given: EventPattern): void {
  if (isMatcher(given)) return;
  if (typeof given === 'string') {
    requireWord(method, 'a type of event', given, EVENT_TYPES);
    return;
  }
  const wanted = 'the type of an event, an object with some of its fields, or a matcher';
  requireArgument(isFields(given) && Object.keys(given).length > 0, method, wanted, given);
  const { type, ...fields } = given as Record<string, unknown>;
  if (typeof type === 'string') requireWord(method, 'a type of event', type, EVENT_TYPES);
  const types = EVENT_TYPES.filter((known) => typeof type !== 'string' || known === type);
  for (const [name, value] of Object.entries(fields)) {
    const values = types.map((known) => eventFields(known)[name]).filter((one) => one !== undefined);
    if (values.length === 0) {
      const known = new Set(types.flatMap((one) => Object.keys(eventFields(one))));
      refuseWord(method, `a field of ${typeof type === 'string' ? type : 'an event'}`, name, [...known]);
    }
    if (typeof value !== 'string' || values.includes(true)) continue;
    const words = new Set(values.flatMap((one) => (one === true ? [] : one)));
    requireWord(`${method}: ${name}`, 'one of its values', value, [...words]);
  }
}
