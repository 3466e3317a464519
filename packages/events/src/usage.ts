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
  for (const bucket of ['cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const) {
    const a = left[bucket];
    const b = right[bucket];
    if (a !== undefined || b !== undefined) sum[bucket] = (a ?? 0) + (b ?? 0);
  }
  return sum;
}

/** All tokens of all buckets. */
export function totalTokens(usage: Usage): number {
  return (
    usage.inputTokens + usage.outputTokens + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0)
  );
}
