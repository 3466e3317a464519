import { type AgentKind, type ProtocolKind, protocolAgentsOf, protocolKinds } from '@whetstone/agents/config';
import type { RawAgent } from './schema.ts';
import type { Spot } from './spot.ts';

/** Whether a kind is a protocol that drives an agent of this name. */
export const namesAgentOf = (kind: AgentKind, agent: string | null | undefined): kind is ProtocolKind =>
  agent != null && Object.hasOwn(protocolAgentsOf(kind) ?? {}, agent);

/** Reports an `agent` that is missing, that a protocol does not drive, or that does not apply. */
export function checkAgentName(
  { kind, agent }: Partial<Pick<RawAgent, 'kind' | 'agent'>>,
  hasCommand: boolean,
  spot: Spot,
): void {
  if (!kind) return;
  const agents = protocolAgentsOf(kind);
  if (!agents) {
    const owners = protocolKinds.map((one) => `kind: ${one}`).join(' and to ');
    if (agent != null) spot.at('agent').error(`only applies to ${owners}`, { mark: 'key' });
    return;
  }
  const hint = `one of: ${Object.keys(agents).join(', ')}`;
  if (agent == null) {
    if (!hasCommand) spot.at('agent').error(`is required for kind: ${kind} without a command`, { hint });
    return;
  }
  if (hasCommand) {
    const message = 'an agent has either a name or a command, not both';
    spot.at('agent').error(message, { hint: 'keep one of them', mark: 'key' });
  } else if (!Object.hasOwn(agents, agent)) {
    spot.at('agent').error(`is not an agent that ${kind} drives`, { hint });
  }
}
