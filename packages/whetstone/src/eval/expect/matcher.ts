/**
 * What a matcher says of a value. `unavailable`: the value was not collected, so nobody can say. `reason` states what
 * was found, not whether it is good, so that it also reads well behind `not`.
 */
export type Match = {
  status: 'matched' | 'mismatched' | 'unavailable';
  reason: string;
  /** Of graded matchers, 0 to 1. */
  score?: number;
};

/** Three-valued, composable with `and`, `or` and `not`. `match` never throws and never rejects. */
export type Matcher<Value = unknown> = {
  /** As it stands in the name of an assertion, for example `includes("ok")`. */
  readonly label: string;
  match(value: Value): Match | Promise<Match>;
};
