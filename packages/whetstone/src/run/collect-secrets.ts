import type { AgentConfig } from '@whetstone/agents/config';
import { agentSecrets, providerKeys } from '@whetstone/agents/evaluator';
import type { GatewayConfig } from '../config/config.ts';

/**
 * The values that must never be kept: what these agents are given from the user's environment, and the keys of providers
 * in it.
 */
export function collectSecrets(
  agents: readonly AgentConfig[],
  gateway: GatewayConfig | undefined,
  environment: NodeJS.ProcessEnv,
): string[] {
  const given = agents.flatMap((agent) => agentSecrets(agent, environment));
  const upstreams = gateway && 'upstreams' in gateway ? gateway.upstreams : [];
  const named = upstreams.flatMap(({ key }) => (key && 'env' in key ? (environment[key.env] ?? []) : []));
  return [...new Set([...given, ...named, ...providerKeys(environment)])];
}
