import { type JsonObject, totalTokens, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, reportedTokens, tokensIn } from '../../kit/fields.ts';

/** Reads usage in the format of Anthropic's API. As in ours, each token is in one bucket. */
export const messageUsage = (usage: JsonObject): Usage => ({
  inputTokens: tokensIn(usage.input_tokens),
  outputTokens: tokensIn(usage.output_tokens),
  ...present({
    cacheReadTokens: reportedTokens(usage.cache_read_input_tokens),
    cacheWriteTokens: reportedTokens(usage.cache_creation_input_tokens),
    reasoningTokens: reportedTokens(objectIn(usage.output_tokens_details)?.thinking_tokens),
  }),
});

/** Reads the entry of one model in the `modelUsage` of a `result`. */
export const modelUsage = (usage: JsonObject): Usage => ({
  inputTokens: tokensIn(usage.inputTokens),
  outputTokens: tokensIn(usage.outputTokens),
  cacheReadTokens: tokensIn(usage.cacheReadInputTokens),
  cacheWriteTokens: tokensIn(usage.cacheCreationInputTokens),
  ...present({ reasoningTokens: reportedTokens(usage.thinkingTokens) }),
});

/** The part of `total` that is not in `reported`; `undefined` if there is none. */
export function usageBeyond(total: Usage, reported: Usage | undefined): Usage | undefined {
  const rest: Usage = {
    inputTokens: Math.max(0, total.inputTokens - (reported?.inputTokens ?? 0)),
    outputTokens: Math.max(0, total.outputTokens - (reported?.outputTokens ?? 0)),
  };
  for (const bucket of ['cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const) {
    const tokens = total[bucket];
    if (tokens !== undefined) rest[bucket] = Math.max(0, tokens - (reported?.[bucket] ?? 0));
  }
  return totalTokens(rest) === 0 ? undefined : rest;
}
