import type { AgentConfig } from '../config.ts';
import { permissionsOf } from '../policy/permissions.ts';
import { drivenAgentOf } from './driven-agent-of.ts';
import { enforcerOf } from './native-agents.ts';

/** Whether an agent, as it is configured, starts commands in a sandbox of its own, which fails inside of a sealed one. */
export function hasOwnSandbox(agent: AgentConfig): boolean {
  if (agent.runner !== 'driver') return false;
  const enforcer = enforcerOf(drivenAgentOf(agent), agent.driver.options);
  return enforcer.enforces.ownSandbox?.(permissionsOf(enforcer, agent.driver.permissions)) ?? false;
}
