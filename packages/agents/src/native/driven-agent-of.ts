import { WhetstoneError } from '@whetstone/errors';
import type { DriverAgentConfig } from '../config.ts';
import {
  type DrivenAgentKind,
  drivenAgents,
  type KnownDrivenAgent,
  protocolAgentsOf,
} from './native-agents.ts';

/**
 * The agent that a configuration means: that of its kind, or the one that it names for a protocol.
 * @throws WhetstoneError `agent-kind-unknown` when a protocol does not know the agent
 */
export function drivenAgentOf({ kind, driver, name }: DriverAgentConfig): KnownDrivenAgent {
  const agents = protocolAgentsOf(kind);
  if (!agents) return drivenAgents[kind as DrivenAgentKind];
  const { agent = '' } = driver;
  // The table has only agents of a kind that is driven.
  if (Object.hasOwn(agents, agent)) return agents[agent] as KnownDrivenAgent;
  const message = `The agent ${name} names no agent that Whetstone drives with ${kind}.`;
  throw new WhetstoneError('agent-kind-unknown', message, {
    where: `agents.${name}`,
    hint: `set \`agent\` to one of: ${Object.keys(agents).join(', ')}`,
  });
}
