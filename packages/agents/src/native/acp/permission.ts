import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, textIn } from '../../kit/fields.ts';
import { hostOfUrl } from '../../policy/host-of-url.ts';
import type { PolicyRequest } from '../../policy/policy.ts';
import type { CommandTurn } from '../native-agent.ts';
import type { ClientOptions } from './client-options.ts';
import { pathsOf, toolNameOf } from './tool-call.ts';

/** Answers what the agent asks a human. A permission is only given for this call, never for later ones. */
export async function answerPermission(
  { toolCall, options }: RequestPermissionRequest,
  { decide, signal, mcpServers }: CommandTurn,
  { asksToLeaveSandbox = false, named }: Pick<ClientOptions, 'asksToLeaveSandbox'> & { named?: string } = {},
): Promise<RequestPermissionResponse> {
  const servers = mcpServers.map(({ name }) => name);
  const request = policyRequest(toolCall as unknown as JsonObject, servers, named);
  const { decision } = await decide(asksToLeaveSandbox ? grantOf(request) : request);
  if (signal.aborted) return CANCELLED;
  const kinds =
    decision === 'approved' ? (['allow_once'] as const) : (['reject_once', 'reject_always'] as const);
  const option = kinds.flatMap((kind) => options.find((one) => one.kind === kind) ?? [])[0];
  return option ? { outcome: { outcome: 'selected', optionId: option.optionId } } : CANCELLED;
}

const CANCELLED: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };

/** A command outside the sandbox is a permission that none of the others includes. */
const grantOf = (request: PolicyRequest): PolicyRequest =>
  request.kind === 'command'
    ? { callId: request.callId, kind: 'grant', what: `run outside the sandbox: ${request.command}` }
    : request;

/** What a tool call of the protocol asks for. */
export function policyRequest(
  call: JsonObject,
  mcpServers?: readonly string[],
  /** What the call was named first. Default: its title. */
  named?: string,
): PolicyRequest {
  const callId = textIn(call.toolCallId) ?? '';
  const title = textIn(call.title) ?? '';
  const input = objectIn(call.rawInput) ?? {};
  const paths = pathsOf(call);
  const name = toolNameOf({ ...call, title: named ?? title }, mcpServers);
  if (call.kind === 'execute' && !name.startsWith('mcp__')) {
    const command = textIn(input.command) ?? title;
    return { callId, kind: 'command', command, ...present({ cwd: textIn(input.cwd) }) };
  }
  const isChange = call.kind === 'edit' || call.kind === 'delete' || call.kind === 'move';
  if (isChange && paths.length > 0) return { callId, kind: 'file-change', paths };
  if (call.kind === 'switch_mode') return { callId, kind: 'config', what: title };
  const host = hostOfUrl(input.url);
  return {
    ...{ callId, kind: 'tool', name, input, reason: title },
    ...(paths.length > 0 && { paths }),
    ...present({ host }),
  };
}
