import type { Usage } from '@whetstone/events';
import type { WireProtocol } from './wire/neutral.ts';

/** A model call to find the price of. */
export type PricedCall = {
  wire: WireProtocol;
  /** The model that answered, or the requested model when the answer names none. */
  model: string;
  usage: Usage;
  /** The base URL of the provider that answered. Absent for replies that cost nothing now (scripted or replayed). */
  upstream?: string;
  /** The part of `usage.cacheWriteTokens` that was written for an hour. */
  cacheWrite1hTokens: number;
};

/**
 * The price of a call in US dollars, and where that price comes from. `null`: the price is unknown. Must not throw; when
 * it throws, the price is unknown.
 */
export type PriceOf = (call: PricedCall) => { usd: number; source: string } | null;
