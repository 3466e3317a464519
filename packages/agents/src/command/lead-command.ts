import { present } from '@whetstone/events/present';
import type { Sandbox } from '@whetstone/sandbox';
import type { AgentContext, TurnInput } from '../agent.ts';
import type { CommandAgentConfig } from '../config.ts';
import type { Peer } from '../kit/dialogue.ts';
import { nativeAgentOf } from '../native/native-agents.ts';
import { createPolicy } from '../policy/decide.ts';
import type { Permissions } from '../policy/permissions.ts';

type Lead = (peer: Peer, emit: AgentContext['emit'], signal: AbortSignal) => Promise<void>;

/** How a turn is led with a command that speaks a protocol; `undefined` for the others, which read their prompt. */
export function leadOf(
  { kind, policy: rules = [] }: CommandAgentConfig,
  input: TurnInput,
  { sandbox, session, declared, ask }: AgentContext & { sandbox: Sandbox },
): Lead | undefined {
  const dialogue = nativeAgentOf(kind)?.commandDialogue;
  if (!dialogue) return undefined;
  const { workdir } = sandbox;
  const resume = session.isNew ? undefined : session.id;
  const mcpServers = declared?.mcpServers ?? [];
  const servers = mcpServers.map(({ name }) => name);
  const turn = { input, workingDirectory: workdir, mcpServers, place: sandbox };
  return (peer, emit, signal) => {
    const decide = createPolicy({ permissions: CLOSED, rules, servers, workdir, place: sandbox, emit, ask });
    return dialogue(peer, { ...turn, ...present({ resume }), decide, signal });
  };
}

/** Nothing is known of what a command can be held to, so only a rule allows something. */
const CLOSED: Permissions = {
  filesystem: 'read-only',
  shell: 'ask',
  network: 'off',
  apps: 'off',
  environment: 'minimal',
};
