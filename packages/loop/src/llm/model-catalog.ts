import type { Usage } from '@whetstone/events';
import catalog from './model-catalog.json' with { type: 'json' };

/** Prices one call in US dollars; `undefined` where the price is not known. */
export type PriceOf = (call: { usage: Usage; provider: string; model: string }) => number | undefined;

/** US dollars per million tokens. */
type Price = { input: number; cacheRead: number; cacheWrite?: number; output: number };
type CatalogModel = {
  provider: string;
  id: string;
  maxOutput: number;
  price: Price;
  /** A prompt of more than `above` tokens costs this throughout. */
  longPrompt?: { above: number; price: Price };
};

const models = new Map(
  catalog.models.map((model: CatalogModel) => [`${model.provider}/${model.id}`, model] as const),
);

/**
 * Prices calls by the kept catalogue (`model-catalog.json`, which names its source and date). A model that is not in it
 * has no price; a dated release has that of its name.
 */
export const catalogPriceOf: PriceOf = ({ usage, provider, model }) => {
  const known = find(provider, model);
  if (!known) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const prompt = inputTokens + cacheReadTokens + cacheWriteTokens;
  const { longPrompt } = known;
  const price = longPrompt && prompt > longPrompt.above ? longPrompt.price : known.price;
  const dollars =
    inputTokens * price.input +
    cacheReadTokens * price.cacheRead +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return dollars / 1_000_000;
};

/** What pi and the reference agents ask for at most: a longer answer is rarely wanted and always reserved for. */
const OUTPUT_CAP = 32_000;

/** Output tokens to ask for, where neither host nor profile says; `undefined` for an unknown model. */
export function catalogMaxOutput(provider: string, model: string): number | undefined {
  const known = find(provider, model);
  return known && Math.min(known.maxOutput, OUTPUT_CAP);
}

function find(provider: string, model: string): CatalogModel | undefined {
  const family = provider.split('.', 1)[0];
  const name = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  return models.get(`${family}/${model}`) ?? models.get(`${family}/${name}`);
}
