import { calcPrice, findProvider, type PriceCalculation } from '@pydantic/genai-prices';
import { present } from './present.ts';
import type { Usage } from './usage.ts';

/** Tokens that a model was paid for. */
export type PricedUsage = {
  usage: Usage;
  /** Of `usage.cacheWriteTokens`, those written for an hour, which cost more. Default 0. */
  cacheWrite1hTokens?: number;
  /** The model that answered. A dated release has the price of its name where it has none of its own. */
  model: string;
  /**
   * The provider's name (`openai`, `anthropic`, `google`, …), or the address of its API; `orElse` is the name for an
   * address that is nobody's in the list, such as that of a company's own proxy.
   */
  provider: { name: string } | { apiUrl: string; orElse?: string };
  /** Prices change with the date and, for some, the hour. Default: now. */
  at?: Date;
};

/** US dollars, and the entry of the price list that they come from. */
export type UsagePrice = { usd: number; source: string };

/**
 * Prices tokens by the list of `@pydantic/genai-prices`, which comes with its package: nothing is fetched. Knows tiers
 * for long prompts. Returns `undefined` for a provider or a model that is not in the list: unknown, not free.
 */
export function priceUsage({
  usage,
  cacheWrite1hTokens = 0,
  model,
  provider,
  at,
}: PricedUsage): UsagePrice | undefined {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const entry = entryOf(model, provider, at);
  if (!entry) return undefined;
  const price = calcPrice(
    {
      // Our buckets are exclusive; here the prompt is everything that went in, and the other counts are parts of it.
      input_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
      cache_read_tokens: cacheReadTokens,
      cache_write_tokens: cacheWriteTokens,
      cache_write_1h_tokens: Math.min(cacheWrite1hTokens, cacheWriteTokens),
      output_tokens: outputTokens,
    },
    model,
    { provider: entry, ...present({ timestamp: at }) },
  );
  if (!price) return undefined;
  return { usd: price.total_price, source: `genai-prices ${price.provider.id}/${price.model.id}` };
}

type Entry = PriceCalculation['provider'];

/** Models are named by clients too: what they may make up must not fill the memory. */
const MOST_ENTRIES = 1_000;
const entries = new Map<string, Entry | undefined>();

/** The provider with this one model of its list: to look through the list takes longer than to price. */
function entryOf(model: string, provider: PricedUsage['provider'], at: Date | undefined): Entry | undefined {
  const key = JSON.stringify([provider, model]);
  if (!entries.has(key)) {
    const found = calcPrice({}, model, { ...providerOption(provider), ...present({ timestamp: at }) });
    if (entries.size >= MOST_ENTRIES) entries.clear();
    entries.set(key, found ? { ...found.provider, models: [found.model] } : undefined);
  }
  return entries.get(key);
}

function providerOption(provider: PricedUsage['provider']) {
  if ('name' in provider) return { providerId: provider.name };
  const { apiUrl, orElse } = provider;
  const isListed = findProvider({ providerApiUrl: apiUrl }) !== undefined;
  return isListed || orElse === undefined ? { providerApiUrl: apiUrl } : { providerId: orElse };
}
