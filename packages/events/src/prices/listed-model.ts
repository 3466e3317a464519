/** The shape of the price list, which is that of `@pydantic/genai-prices` without the fields that nobody reads here. */

/** All texts but `regex` are in lower case. */
export type Match =
  | { or: Match[] }
  | { and: Match[] }
  | { equals: string }
  | { starts_with: string }
  | { ends_with: string }
  | { contains: string }
  | { regex: string };

/** `fallback_model_providers`: whose models the provider serves too, by their ids. */
export type ListedProvider = {
  id: string;
  api_pattern: string;
  provider_match?: Match;
  model_match?: Match;
  fallback_model_providers?: string[];
};

/** Dollars per million tokens; with tiers, `price` holds for the whole call where its prompt is longer than `start`. */
export type ListedPrice = number | { base: number; tiers: { start: number; price: number }[] };

/** What a bucket of tokens costs. A bucket without a price of its own has that of the one that contains it. */
export type ModelPrices = {
  input_mtok?: ListedPrice;
  cache_read_mtok?: ListedPrice;
  cache_write_mtok?: ListedPrice;
  cache_write_1h_mtok?: ListedPrice;
  output_mtok?: ListedPrice;
  /** Dollars per thousand requests. */
  requests_kcount?: number;
};

/** `from`: the first day. `between`: seconds of the day in UTC, the second one excluded; it may lie before the first. */
export type PricesOfTime = { from?: string; between?: [number, number]; prices: ModelPrices };

export type ListedModel = {
  id: string;
  match: Match;
  /** Tokens. */
  context_window?: number;
  /** The last one that holds counts, and the first one where none does. */
  prices: PricesOfTime[];
};
