import type { AgentConfig } from '@whetstone/agents/config';
import { attachedServer, leadsToGateway, usesLogin } from '@whetstone/agents/evaluator';
import type { Config } from '../config/config.ts';
import { inPlan, type Plan } from '../plan/plan.ts';

/** One sentence per agent whose calls the gateway will not see, and so neither counts nor limits. */
export function agentsBypassingGateway({ gateway, agents }: Config, plan: Plan): string[] {
  if (!gateway) return [];
  const bypassing = inPlan(agents, plan.agents).filter((agent) => !leadsToGateway(agent));
  return bypassing.map(
    (agent) =>
      `The agent ${agent.name} does not use the gateway: ${reasonOf(agent)}. Its model calls are not counted on the wire.`,
  );
}

function reasonOf(agent: AgentConfig): string {
  if (attachedServer(agent) !== undefined) return 'it works on a server that has models of its own';
  if (usesLogin(agent)) return 'the calls of its login speak no wire that the gateway reads';
  return agent.runner === 'command'
    ? 'its command does not name {gateway_url}'
    : 'it has a base_url of its own';
}
