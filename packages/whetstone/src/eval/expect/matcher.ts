import type { MaybeLater } from './when-known.ts';

/**
 * What a matcher says of a value. `unavailable`: the value was not collected, so nobody can say. `reason` states what
 * was found, not whether it is good, so that it also reads well behind `not`.
 */
export type Match = {
  status: 'matched' | 'mismatched' | 'unavailable';
  reason: string;
  /** Of graded matchers, 0 to 1. */
  score?: number;
  /** The value is not even of the kind that is looked for, so that the mismatch explains nothing. */
  isFar?: true;
};

/** Three-valued, composable with `and`, `or` and `not`. `match` never throws and never rejects. */
export type Matcher<Value = unknown> = {
  /** As it stands in the name of an assertion, for example `includes("ok")`. */
  readonly label: string;
  match(value: Value): MaybeLater<Match>;
};

export const matched = (reason: string): Match => ({ status: 'matched', reason });
export const mismatched = (reason: string): Match => ({ status: 'mismatched', reason });
/** A value of another kind, for example the call of another tool. */
export const far = (reason: string): Match => ({ status: 'mismatched', reason, isFar: true });
export const unavailable = (reason: string): Match => ({ status: 'unavailable', reason });
export const matchIf = (isMatch: boolean, reason: string): Match =>
  isMatch ? matched(reason) : mismatched(reason);

export const isMatcher = (value: unknown): value is Matcher<never> =>
  typeof value === 'object' && value !== null && 'match' in value && typeof value.match === 'function';

/** Runs the code of a user: what it throws or rejects with makes the match unavailable. */
export function guarded(run: () => MaybeLater<Match>): MaybeLater<Match> {
  try {
    const match = run();
    return match instanceof Promise ? match.catch(thrown) : match;
  } catch (error) {
    return thrown(error);
  }
}

const thrown = (error: unknown): Match =>
  unavailable(
    `the matcher threw ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
  );
