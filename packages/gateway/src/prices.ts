import type { Usage } from '@whetstone/events';
import type { WireProtocol } from './wire/neutral.ts';

/** A model call to find the price of. */
export type PricedCall = {
  wire: WireProtocol;
  /** The model that answered, or the requested model when the answer names none. */
  model: string;
  usage: Usage;
  /** The base URL of the provider that the call went to; absent for replies that cost nothing now. */
  upstream?: string;
  /** The part of `usage.cacheWriteTokens` that was written for an hour. */
  cacheWrite1hTokens: number;
};

/**
 * The price of a call in US dollars and where it comes from, or `null` when it is unknown. Must not throw; an error
 * makes the price unknown.
 */
export type Prices = (call: PricedCall) => { usd: number; source: string } | null;
