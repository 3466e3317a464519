import type { AgentConfig } from '@whetstone/agents/config';
import { agentSecrets } from '@whetstone/agents/evaluator';

/** The values that must never be kept: what these agents are given from the user's environment. */
export function collectSecrets(agents: readonly AgentConfig[], environment: NodeJS.ProcessEnv): string[] {
  return [...new Set(agents.flatMap((agent) => agentSecrets(agent, environment)))];
}
