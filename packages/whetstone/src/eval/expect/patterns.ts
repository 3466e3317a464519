import type { JsonValue, StreamEvent } from '@whetstone/agents';
import type { Matcher } from './matcher.ts';

/** A text: exactly this, or one that the expression matches. */
export type TextPattern = string | RegExp;

/** A part of a JSON value: each named field must fit. Leaves are values, regular expressions or matchers. */
export type JsonPattern =
  | JsonValue
  | RegExp
  | Matcher<unknown>
  | readonly JsonPattern[]
  | { readonly [field: string]: JsonPattern };

export type Count = number | { atLeast?: number; atMost?: number };

export type ToolConditions = {
  input?: JsonPattern;
  output?: JsonPattern;
  status?: 'completed' | 'failed' | 'rejected' | 'pending';
};

/** One call of a tool, as `toolMatch` sees it. */
export type ToolCall = {
  callId: string;
  name: string;
  input: JsonValue;
  output?: JsonValue;
  /** `pending`: no result was recorded. */
  status: 'completed' | 'failed' | 'rejected' | 'pending';
};

/** A tool by its exact name, by an expression, or by a matcher such as `toolMatch` and `commandMatch`. */
export type ToolPattern = TextPattern | Matcher<ToolCall>;

/** An event by its type, by its type and a part of its fields, or by a matcher. */
export type EventPattern =
  | StreamEvent['type']
  | { readonly [field: string]: JsonPattern }
  | Matcher<StreamEvent>;
