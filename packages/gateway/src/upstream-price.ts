import { priceUsage } from '@whetstone/events/price-list';
import type { PriceOf } from './call-price.ts';
import type { WireProtocol } from './wire/neutral.ts';

/** The company whose models a wire is made for. Its prices count where the address names no known provider. */
const makers: Record<WireProtocol, string> = {
  'openai-responses': 'openai',
  'openai-chat-completions': 'openai',
  'anthropic-messages': 'anthropic',
  'gemini-generate-content': 'google',
};

/** The list price of the provider that the call went to, where that provider is known; else of the model's maker. */
export const upstreamPrice: PriceOf = ({ wire, model, usage, cacheWrite1hTokens, upstream }) => {
  const maker = makers[wire];
  const provider = upstream === undefined ? { name: maker } : { apiUrl: upstream, orElse: maker };
  return priceUsage({ usage, cacheWrite1hTokens, model, provider }) ?? null;
};
