import type { JsonObject, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';

/** What a response said of itself. */
export type Metered = {
  /** The model that answered; `null` when the response names none. */
  model: string | null;
  /** `null` when the response reports none, as a stream that was cut off may not. */
  usage: Usage | null;
  /** Of `usage.cacheWriteTokens`, those written for an hour, which cost more. */
  cacheWrite1hTokens?: number;
  /** `stop`, `tool-calls`, `length`, `content-filter`, `error`, or the provider's own word for anything else. */
  finish: string | null;
  /** Tools that the agent is asked to run, in order. */
  toolCalls: string[];
};

/** Reads the JSON of one response: the whole body, or the data of each event of a stream in order. */
export type WireMeter = {
  /** Whether the data holds something that the model said (and not only that it began). */
  read(data: JsonObject): boolean;
  result(): Metered;
};

/** A count of tokens; `undefined` when it is not reported. */
export function countAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Buckets of a usage, of which those that are not reported stay absent. */
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
