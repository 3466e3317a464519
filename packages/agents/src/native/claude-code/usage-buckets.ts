import { type JsonObject, totalTokens, type Usage } from '@whetstone/events';
import { objectIn, tokensIn } from '../../kit/fields.ts';

/** Reads usage in the format of Anthropic's API. As in ours, each token is in one bucket. */
export function messageUsage(usage: JsonObject): Usage {
  const thinking = objectIn(usage.output_tokens_details)?.thinking_tokens;
  return {
    inputTokens: tokensIn(usage.input_tokens),
    outputTokens: tokensIn(usage.output_tokens),
    ...(usage.cache_read_input_tokens != null && {
      cacheReadTokens: tokensIn(usage.cache_read_input_tokens),
    }),
    ...(usage.cache_creation_input_tokens != null && {
      cacheWriteTokens: tokensIn(usage.cache_creation_input_tokens),
    }),
    ...(thinking != null && { reasoningTokens: tokensIn(thinking) }),
  };
}

/** Reads the entry of one model in the `modelUsage` of a `result`. */
export function modelUsage(usage: JsonObject): Usage {
  return {
    inputTokens: tokensIn(usage.inputTokens),
    outputTokens: tokensIn(usage.outputTokens),
    cacheReadTokens: tokensIn(usage.cacheReadInputTokens),
    cacheWriteTokens: tokensIn(usage.cacheCreationInputTokens),
    ...(usage.thinkingTokens != null && { reasoningTokens: tokensIn(usage.thinkingTokens) }),
  };
}

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
