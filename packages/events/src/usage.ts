import type { z } from 'zod';
import type { usageSchema } from './usage-schema.ts';

export type Usage = z.infer<typeof usageSchema>;

export const emptyUsage = (): Usage => ({ inputTokens: 0, outputTokens: 0 });

/** The sum of two usages. A bucket that neither side reports stays absent. */
export function addUsage(left: Usage, right: Usage): Usage {
  const sum: Usage = {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  };
  const cacheReadTokens = bucketSum(left.cacheReadTokens, right.cacheReadTokens);
  const cacheWriteTokens = bucketSum(left.cacheWriteTokens, right.cacheWriteTokens);
  const reasoningTokens = bucketSum(left.reasoningTokens, right.reasoningTokens);
  if (cacheReadTokens !== undefined) sum.cacheReadTokens = cacheReadTokens;
  if (cacheWriteTokens !== undefined) sum.cacheWriteTokens = cacheWriteTokens;
  if (reasoningTokens !== undefined) sum.reasoningTokens = reasoningTokens;
  return sum;
}

function bucketSum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);
}

/** All tokens of all buckets. */
export function totalTokens(usage: Usage): number {
  return (
    usage.inputTokens + usage.outputTokens + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0)
  );
}
