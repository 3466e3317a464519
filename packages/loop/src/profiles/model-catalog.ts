import type { Usage } from '@whetstone/events';
import { contextWindowOf, priceUsage } from '@whetstone/events/price-list';
import catalog from './model-catalog.json' with { type: 'json' };

/** Prices one call in US dollars; `undefined` where the price is not known. */
export type PriceOf = (call: { usage: Usage; provider: string; model: string }) => number | undefined;

/** Prices calls by the kept price list of `@whetstone/events/price-list`; what is not in it has no price. */
export const catalogPriceOf: PriceOf = ({ usage, provider, model }) =>
  priceUsage({ usage, model, provider: { name: familyOf(provider) } })?.usd;

/** What pi and the reference agents ask for at most: a longer answer is rarely wanted and always reserved for. */
const OUTPUT_CAP = 32_000;

/** Output tokens to ask for, where neither host nor profile says; `undefined` for an unknown model. */
export function catalogMaxOutput(provider: string, model: string): number | undefined {
  const known = entryOf(provider, model);
  return known && Math.min(known.maxOutput, OUTPUT_CAP);
}

/**
 * Tokens that the model can take, by our own list and else by the price list; `undefined` for an unknown model. For a
 * model that keeps a part of its window for the answer, this is what is left for the prompt.
 */
export function catalogContextWindow(provider: string, model: string): number | undefined {
  return entryOf(provider, model)?.contextWindow ?? contextWindowOf(model, { name: familyOf(provider) });
}

type CatalogEntry = { provider: string; id: string; maxOutput: number; contextWindow?: number };

function entryOf(provider: string, model: string): CatalogEntry | undefined {
  if (last?.provider !== provider || last.model !== model)
    last = { provider, model, entry: search(provider, model) };
  return last.entry;
}

/** Every round asks for the same model. */
let last: { provider: string; model: string; entry: CatalogEntry | undefined } | undefined;

function search(provider: string, model: string): CatalogEntry | undefined {
  const name = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  const family = familyOf(provider);
  return catalog.models.find(
    (entry) => entry.provider === family && (entry.id === model || entry.id === name),
  );
}

/** A model calls itself `openai.responses` or `google.generative-ai`: the company comes first. */
const familyOf = (provider: string): string => provider.split('.', 1)[0] ?? provider;
