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
  result(): Metered;
};

/** A count of tokens; `undefined` when it is not reported. */
export function countAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The buckets of a usage. Buckets that are not reported stay absent. */
export function usageOf(buckets: {
  input: number;
  output: number;
  cacheRead: number | undefined;
  cacheWrite: number | undefined;
  reasoning: number | undefined;
}): Usage {
  const { cacheRead, cacheWrite, reasoning } = buckets;
  return {
    inputTokens: Math.max(0, buckets.input),
    outputTokens: buckets.output,
    ...present({ cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite, reasoningTokens: reasoning }),
  };
}
