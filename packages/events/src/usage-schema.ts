import { z } from 'zod';

const tokens = z.number().int().nonnegative();

/**
 * Token counts of one model call, or the sum of several. The buckets are exclusive: a token is counted in exactly one of
 * `inputTokens`, `cacheReadTokens`, `cacheWriteTokens` and `outputTokens`; `reasoningTokens` is the part of
 * `outputTokens` that was reasoning. An absent bucket means "not reported", which is not the same as 0.
 */
export const usageSchema = z.object({
  /** Input tokens that were neither read from nor written to a prompt cache. */
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadTokens: tokens.optional(),
  cacheWriteTokens: tokens.optional(),
  reasoningTokens: tokens.optional(),
});
