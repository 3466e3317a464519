import { priceUsage } from '@whetstone/events/price';
import type { Prices } from './prices.ts';
import type { WireProtocol } from './wire/neutral.ts';

/** The maker of the models on each wire. The maker's price counts where the address does not name a provider. */
const makers: Record<WireProtocol, string> = {
  'openai-responses': 'openai',
  'openai-chat-completions': 'openai',
  'anthropic-messages': 'anthropic',
  'gemini-generate-content': 'google',
};

/** List prices of the provider that the call went to, or of the model's maker when the provider is unknown. */
export const listPrices: Prices = ({ wire, model, usage, cacheWrite1hTokens, upstream }) => {
  const maker = makers[wire];
  const provider = upstream === undefined ? { name: maker } : { apiUrl: upstream, orElse: maker };
  return priceUsage({ usage, cacheWrite1hTokens, model, provider }) ?? null;
};
