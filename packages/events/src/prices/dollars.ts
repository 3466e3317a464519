import type { Usage } from '../usage.ts';
import type { ListedModel, ListedPrice, ModelPrices } from './listed-model.ts';

/** What one call costs, in US dollars. Our buckets are exclusive; the length of the prompt is all of its input. */
export function dollarsOf(
  usage: Usage,
  cacheWrite1hTokens: number,
  { prices: all }: ListedModel,
  at: Date,
): number {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const prices = pricesAt(all, at);
  const { input_mtok: input, cache_write_mtok: write = input } = prices;
  const prompt = inputTokens + cacheReadTokens + cacheWriteTokens;
  const forAnHour = Math.min(cacheWrite1hTokens, cacheWriteTokens);
  const perMillion =
    inputTokens * rate(input, prompt) +
    cacheReadTokens * rate(prices.cache_read_mtok ?? input, prompt) +
    (cacheWriteTokens - forAnHour) * rate(write, prompt) +
    forAnHour * rate(prices.cache_write_1h_mtok ?? write, prompt) +
    outputTokens * rate(prices.output_mtok, prompt);
  return perMillion / 1_000_000 + (prices.requests_kcount ?? 0) / 1_000;
}

/** A bucket that the list has no price for costs nothing: a provider that does not charge for it. */
function rate(price: ListedPrice = 0, prompt: number): number {
  if (typeof price === 'number') return price;
  return price.tiers.findLast(({ start }) => prompt > start)?.price ?? price.base;
}

function pricesAt(all: ListedModel['prices'], at: Date): ModelPrices {
  const second = (at.getTime() / 1_000) % 86_400;
  const holds = ({ from, between }: ListedModel['prices'][number]) => {
    if (from !== undefined) return at >= new Date(from);
    if (between === undefined) return true;
    const [start, end] = between;
    return end < start ? second >= start || second < end : second >= start && second < end;
  };
  return (all.findLast(holds) ?? all[0])?.prices ?? {};
}
