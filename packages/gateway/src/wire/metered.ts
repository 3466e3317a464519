import type { JsonObject, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';

export type Metered = {
  /** The model that answered; `null` when the response does not name it. */
  model: string | null;
  /** `null` when the response does not report it, for example because the stream was cut off. */
  usage: Usage | null;
  /** The part of `usage.cacheWriteTokens` that was written for an hour, which costs more. */
  cacheWrite1hTokens?: number;
  /** `stop`, `tool-calls`, `length`, `content-filter`, `error`, or the provider's own word for another reason. */
  finish: string | null;
  toolCalls: string[];
};

/** Reads the JSON of one response: the whole body, or the data of each event of a stream, in order. */
export type WireMeter = {
  /** Returns whether the data has output of the model (and not only the start of a response). */
  read(data: JsonObject): boolean;
  /** The stream says that it is done, in words that are not JSON (`[DONE]`), or the whole body was read. */
  done?(): void;
  /** Whether the end of a stream of this wire was read. A stream that ends without it was cut off. */
  hasEnd(): boolean;
  result(): Metered;
};

/** A count of tokens: `undefined` when it is not reported, `NaN` when what is reported is not a count. */
export function tokensAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  if (value == null) return undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN;
}

/**
 * The buckets of a usage; those that are not reported stay absent. `null` without input or output, and when one of the
 * counts is not a count: then the tokens of the call are unknown, not 0.
 */
export function usageOf(buckets: {
  input: number | undefined;
  output: number | undefined;
  cacheRead: number | undefined;
  cacheWrite: number | undefined;
  reasoning: number | undefined;
}): Usage | null {
  const { input, output, cacheRead, cacheWrite, reasoning } = buckets;
  if (input === undefined || output === undefined) return null;
  const usage = {
    inputTokens: Math.max(0, input),
    outputTokens: output,
    ...present({ cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite, reasoningTokens: reasoning }),
  };
  return Object.values(usage).some(Number.isNaN) ? null : usage;
}
