import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';

/** The provider's counts in exclusive buckets; `undefined` where it reported none. */
export function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  const counts = [inputTokens.total, inputTokens.noCache, outputTokens.total];
  if (counts.every((tokens) => tokens === undefined)) return undefined;
  const cached = (inputTokens.cacheRead ?? 0) + (inputTokens.cacheWrite ?? 0);
  return {
    inputTokens: count(inputTokens.noCache ?? (inputTokens.total ?? 0) - cached),
    outputTokens: count(outputTokens.total ?? (outputTokens.text ?? 0) + (outputTokens.reasoning ?? 0)),
    ...present({
      cacheReadTokens: inputTokens.cacheRead && count(inputTokens.cacheRead),
      cacheWriteTokens: inputTokens.cacheWrite && count(inputTokens.cacheWrite),
      reasoningTokens: outputTokens.reasoning && count(outputTokens.reasoning),
    }),
  };
}

function count(tokens: number): number {
  return Math.max(0, Math.round(tokens));
}
