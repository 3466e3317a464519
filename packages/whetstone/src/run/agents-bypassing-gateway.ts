import { leadsToGateway } from '@whetstone/agents/evaluator';
import type { Config } from '../config/config.ts';
import { inPlan, type Plan } from '../plan/plan.ts';

/** One sentence per agent whose calls the gateway will not see, and so neither counts nor limits. */
export function agentsBypassingGateway({ gateway, agents }: Config, plan: Plan): string[] {
  if (!gateway) return [];
  const bypassing = inPlan(agents, plan.agents).filter((agent) => !leadsToGateway(agent));
  return bypassing.map(({ name, runner }) => {
    const why =
      runner === 'command' ? 'its command does not name {gateway_url}' : 'it has a base_url of its own';
    return `The agent ${name} does not use the gateway: ${why}. Its model calls are not counted on the wire.`;
  });
}
