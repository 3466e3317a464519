import type { AgentConfig } from '../config.ts';
import { loopDefaults } from '../loop/loop-defaults.ts';
import { driverKeyVariable } from '../native/model-provider.ts';

/** The variable that holds the key of an agent's model when no gateway holds it; `undefined` when only the agent knows. */
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
