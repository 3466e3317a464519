import { cliKeyVariable, loopDefaults, resolveAgentEnv } from '@whetstone/agents';
import type { AgentConfig } from '@whetstone/agents/config';

/**
 * The values that must never be kept: what these agents are given through `${NAME}` or under the name of a secret, and
 * the keys that a loop agent reads from the user's environment.
 */
export function secretsOf(agents: readonly AgentConfig[], environment: NodeJS.ProcessEnv): string[] {
  const secrets = agents.flatMap((agent) => [
    ...resolveAgentEnv(agent.env, environment).secrets,
    ...(agent.cli ? [environment[cliKeyVariable(agent.kind, agent.cli) ?? ''] ?? ''] : []),
    ...(agent.loop
      ? [environment[agent.loop.apiKeyEnv ?? loopDefaults[agent.loop.profile].apiKeyEnv] ?? '']
      : []),
  ]);
  return [...new Set(secrets)].filter((secret) => secret !== '');
}
