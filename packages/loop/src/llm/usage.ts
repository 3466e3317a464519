import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Usage } from '@whetstone/events';

/** The provider's counts in exclusive buckets; `undefined` where it reported none. */
export function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  if (
    inputTokens.total === undefined &&
    inputTokens.noCache === undefined &&
    outputTokens.total === undefined
  ) {
    return undefined;
  }
  const cached = (inputTokens.cacheRead ?? 0) + (inputTokens.cacheWrite ?? 0);
  return {
    inputTokens: count(inputTokens.noCache ?? (inputTokens.total ?? 0) - cached),
    outputTokens: count(outputTokens.total ?? (outputTokens.text ?? 0) + (outputTokens.reasoning ?? 0)),
    ...(inputTokens.cacheRead === undefined ? {} : { cacheReadTokens: count(inputTokens.cacheRead) }),
    ...(inputTokens.cacheWrite === undefined ? {} : { cacheWriteTokens: count(inputTokens.cacheWrite) }),
    ...(outputTokens.reasoning === undefined ? {} : { reasoningTokens: count(outputTokens.reasoning) }),
  };
}

function count(tokens: number): number {
  return Math.max(0, Math.round(tokens));
}
