import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationContentValue,
} from '@agentclientprotocol/sdk';
import type { CommandTurn } from '../native-agent.ts';
import { toolNameOf } from './tool-call.ts';

/**
 * Answers a form that the agent, or an MCP server behind it, wants a human to fill in. The protocol does not name the
 * server: only the call does that a form may belong to.
 */
export async function answerElicitation(
  { toolCallId, message }: CreateElicitationRequest & { toolCallId?: unknown },
  { decide, signal, mcpServers }: CommandTurn,
  { titles, ownId }: { titles: ReadonlyMap<string, string>; ownId: string },
): Promise<CreateElicitationResponse> {
  const called = typeof toolCallId === 'string' ? toolCallId : undefined;
  const title = titles.get(called ?? '') ?? '';
  const tool = toolNameOf(
    { title },
    mcpServers.map(({ name }) => name),
  );
  const server = /^mcp__(.+?)__/.exec(tool)?.[1] ?? 'agent';
  const { decision, content } = await decide({
    callId: called ?? ownId,
    kind: 'elicitation',
    server,
    message,
  });
  if (signal.aborted) return { action: 'cancel' };
  if (decision === 'denied') return { action: 'decline' };
  return { action: 'accept', content: (content ?? {}) as Record<string, ElicitationContentValue> };
}
