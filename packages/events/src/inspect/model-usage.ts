import { present } from '../present.ts';
import { addUsage, type Usage } from '../usage.ts';
import type { ModelUsage } from './log-shapes.ts';

/** Inspect's `input_tokens` does not include cached tokens, like our buckets. */
export function toUsage(usage: ModelUsage): Usage {
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    ...present({
      cacheReadTokens: usage.input_tokens_cache_read,
      cacheWriteTokens: usage.input_tokens_cache_write,
      reasoningTokens: usage.reasoning_tokens,
    }),
  };
}

/** The sum over the models of a sample, with a cost only if every model has one. */
export function totalUsage(byModel: Record<string, ModelUsage> | null | undefined): {
  usage?: Usage;
  costUsd?: number;
} {
  const models = Object.values(byModel ?? {});
  const usage = models
    .map(toUsage)
    .reduce<Usage | undefined>((sum, next) => (sum ? addUsage(sum, next) : next), undefined);
  if (!usage) return {};
  const costs = models.map((model) => model.total_cost).filter((cost) => cost !== undefined);
  if (costs.length < models.length) return { usage };
  return { usage, costUsd: costs.reduce((sum, cost) => sum + cost, 0) };
}
