import type { AgentConfig } from '../config.ts';
import { loopDefaults } from '../loop/loop-defaults.ts';
import { driverKeyVariable } from '../native/model-provider.ts';

/** The variable that holds the agent's model key without a gateway; `undefined` if only the agent knows it. */
export function agentKeyVariable(agent: AgentConfig): string | undefined {
  switch (agent.runner) {
    case 'driver':
      return driverKeyVariable(agent);
    case 'loop':
      return agent.loop.apiKeyEnv ?? loopDefaults[agent.loop.profile].apiKeyEnv;
    default:
      return undefined;
  }
}
