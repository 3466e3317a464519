import { createRequire } from 'node:module';
import type * as GenaiPrices from '@pydantic/genai-prices';
import { present } from './present.ts';
import type { Usage } from './usage.ts';

const require = createRequire(import.meta.url);
let loaded: typeof GenaiPrices | undefined;

/** Loaded with the first question: the list is 0.8 MB and takes longer to load than all of the loop. */
function prices(): typeof GenaiPrices {
  loaded ??= require('@pydantic/genai-prices') as typeof GenaiPrices;
  return loaded;
}

/** The tokens to price. */
export type PricedUsage = {
  usage: Usage;
  /** How many of `usage.cacheWriteTokens` were written for an hour, which costs more. Default 0. */
  cacheWrite1hTokens?: number;
  /** The model that answered. A dated release without a price of its own has the price of its undated name. */
  model: string;
  /**
   * The provider's name (`openai`, `anthropic`, `google`, …), or the address of its API. `orElse` is the name to use for
   * an address that is not in the list, such as that of a company's own proxy.
   */
  provider: { name: string } | { apiUrl: string; orElse?: string };
  /** Prices change with the date, and some with the hour. Default: now. */
  at?: Date;
};

/** US dollars, and the entry of the price list that the price comes from. */
export type UsagePrice = { usd: number; source: string };

/**
 * Prices tokens by the list of `@pydantic/genai-prices`, which is part of that package: nothing is fetched. Knows the
 * tiers for long prompts. Returns `undefined` for a provider or a model that is not in the list: unknown, not free.
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
  const price = prices().calcPrice(
    {
      // Our buckets are exclusive. Here the prompt is the whole input, and the other counts are parts of it.
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

/** Tokens that the model can read and write at once, by the same list; `undefined` where the list has none. */
export function contextWindowOf(model: string, provider: PricedUsage['provider']): number | undefined {
  return entryOf(model, provider, undefined)?.models[0]?.context_window;
}

type Entry = GenaiPrices.PriceCalculation['provider'];

/** Clients name models too, and could make up any number of names: the cache is bounded. */
const MOST_ENTRIES = 1_000;
const entries = new Map<string, Entry | undefined>();

/** The provider with only this one model. Cached, because searching the list takes longer than pricing. */
function entryOf(model: string, provider: PricedUsage['provider'], at: Date | undefined): Entry | undefined {
  const key = JSON.stringify([provider, model]);
  if (!entries.has(key)) {
    const found = prices().calcPrice({}, model, {
      ...providerOption(provider),
      ...present({ timestamp: at }),
    });
    if (entries.size >= MOST_ENTRIES) entries.clear();
    entries.set(key, found ? { ...found.provider, models: [found.model] } : undefined);
  }
  return entries.get(key);
}

function providerOption(provider: PricedUsage['provider']) {
  if ('name' in provider) return { providerId: provider.name };
  const { apiUrl, orElse } = provider;
  const isListed = prices().findProvider({ providerApiUrl: apiUrl }) !== undefined;
  return isListed || orElse === undefined ? { providerApiUrl: apiUrl } : { providerId: orElse };
}
