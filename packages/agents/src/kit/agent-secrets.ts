import type { AgentConfig } from '../config.ts';
import { resolveAgentEnv } from './agent-environment.ts';
import { agentKeyVariable } from './agent-key-variable.ts';

/**
 * The values of one agent that must never be stored: variables from `${NAME}` or with the name of a secret, and the
 * model key that this process reads from the user's environment.
 */
export function agentSecrets(agent: AgentConfig, environment: NodeJS.ProcessEnv): string[] {
  const variable = agentKeyVariable(agent);
  const key = variable === undefined ? undefined : environment[variable];
  return [...resolveAgentEnv(agent.env, environment).secrets, key ?? ''].filter((secret) => secret !== '');
}
