import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dollarsOf } from './prices/dollars.ts';
import { findModel, findProvider } from './prices/find-model.ts';
import type { ListedModel, ListedProvider } from './prices/listed-model.ts';
import type { Usage } from './usage.ts';

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
 * Prices tokens by the list of `@pydantic/genai-prices`, which is part of this package: nothing is fetched. Knows the
 * tiers for long prompts. Returns `undefined` for a provider or a model that is not in the list: unknown, not free.
 */
export function priceUsage({
  usage,
  cacheWrite1hTokens = 0,
  model,
  provider,
  at = new Date(),
}: PricedUsage): UsagePrice | undefined {
  const entry = entryOf(model, provider);
  if (!entry) return undefined;
  const usd = dollarsOf(usage, cacheWrite1hTokens, entry.model, at);
  return { usd, source: `genai-prices ${entry.provider}/${entry.model.id}` };
}

/** Tokens that the model can read and write at once, by the same list; `undefined` where the list has none. */
export function contextWindowOf(model: string, provider: PricedUsage['provider']): number | undefined {
  return entryOf(model, provider)?.model.context_window;
}

type Entry = { provider: string; model: ListedModel };

/** Clients name models too, and could make up any number of names: the cache is bounded. */
const MOST_ENTRIES = 1_000;
const entries = new Map<string, Entry | undefined>();

/** Cached, because searching the list takes longer than pricing. */
function entryOf(model: string, provider: PricedUsage['provider']): Entry | undefined {
  const key = JSON.stringify([provider, model]);
  if (!entries.has(key)) {
    if (entries.size >= MOST_ENTRIES) entries.clear();
    entries.set(key, search(model.toLowerCase().trim(), provider));
  }
  return entries.get(key);
}

function search(model: string, provider: PricedUsage['provider']): Entry | undefined {
  providers ??= readList<ListedProvider[]>('providers');
  const found = findProvider(providers, provider, model);
  const listed = found && findModel(found.provider, found.model, modelsOf);
  return listed && { provider: found.provider.id, model: listed };
}

let providers: ListedProvider[] | undefined;
const modelsByProvider = new Map<string, ListedModel[]>();

/** A file per provider: all of them together are 0.3 MB, and a session asks for one or two. */
function modelsOf(provider: string): ListedModel[] {
  const models = modelsByProvider.get(provider) ?? readList<ListedModel[]>(provider);
  modelsByProvider.set(provider, models);
  return models;
}

function readList<T>(name: string): T {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'prices', `${name}.json`), 'utf8'));
}
