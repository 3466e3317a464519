import type { StreamEventOf } from '@whetstone/events';
import type { AgentConfig } from '../config.ts';
import { drivenAgentOf } from './driven-agent-of.ts';
import { needsKey } from './login.ts';
import { providerUrls } from './model-provider.ts';
import { type DrivenAgentKind, drivenAgents } from './native-agents.ts';

/**
 * What model calls cost by the price list, for an agent that does not report its cost: in US dollars, at the provider of
 * the configuration, or else at the usual one of the agent. `undefined` if the price of one call is unknown.
 */
export async function priceWithoutGateway(
  config: AgentConfig,
  calls: readonly StreamEventOf<'usage'>[],
): Promise<number | undefined> {
  const models = new Set(calls.map(({ model }) => model));
  const agent =
    config.runner === 'driver' ? drivenAgentOf(config) : drivenAgents[config.kind as DrivenAgentKind];
  // A plan has no price per token, and the provider of a user's server is unknown.
  if (!needsKey(config) || !agent || models.size === 0 || models.has(undefined)) return undefined;
  const urls = providerUrls(agent, config.runner === 'driver' ? config.driver.baseUrl : undefined);
  const { priceUsage } = await import('@whetstone/events/price-list');
  let sum = 0;
  for (const { model = '', usage, costUsd } of calls) {
    const price = () =>
      urls.map((apiUrl) => priceUsage({ usage, model, provider: { apiUrl } })).find(Boolean);
    const usd = costUsd ?? price()?.usd;
    if (usd === undefined) return undefined;
    sum += usd;
  }
  return sum;
}
