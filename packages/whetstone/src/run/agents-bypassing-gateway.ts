import { leadsToGateway } from '@whetstone/agents/evaluator';
import type { Config } from '../config/config.ts';
import type { Plan } from '../plan/plan.ts';

/** One sentence per agent whose calls the gateway will not see, and so neither counts nor limits. */
export function agentsBypassingGateway({ gateway, agents }: Config, plan: Plan): string[] {
  if (!gateway) return [];
  return agents
    .filter((agent) => plan.agents.some(({ name }) => name === agent.name) && !leadsToGateway(agent))
    .map(
      ({ name, runner }) =>
        `The agent ${name} does not use the gateway: ${runner === 'command' ? 'its command does not name {gateway_url}' : 'it has a base_url of its own'}. Its model calls are not counted on the wire.`,
    );
}
