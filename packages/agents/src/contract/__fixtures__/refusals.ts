import { harnessRefusal } from './harness-format.ts';
import { opencodePart } from './opencode-server-format.ts';

/**
 * A command that is refused, as each agent prints it. The shapes are those of the recorded streams in
 * `native/<kind>/__fixtures__`.
 */
export type Refusal = {
  /** The call. */
  before: object[];
  /** What an agent asks that is led by a host. */
  question?: object;
  after: object[];
};

const COMMAND = 'touch refused.txt';
const callId = 'call_refused';

/** The format of Claude Code and Qwen Code. */
function claudeLike(session: string, name: string, said: string, denied: object[]): Refusal {
  const message = (type: 'assistant' | 'user', content: object[]) => ({
    ...{ type, parent_tool_use_id: null, session_id: session, uuid: `${type}_refused` },
    message: { id: `${type}_refused`, type: 'message', role: type, model: 'model-1', content },
  });
  const input = { command: COMMAND };
  return {
    before: [message('assistant', [{ type: 'tool_use', id: callId, name, input }])],
    question: { tool: name, input, toolUseID: callId },
    after: [
      ...denied,
      message('user', [{ type: 'tool_result', tool_use_id: callId, content: said, is_error: true }]),
    ],
  };
}

const codexItem = (status: string) => ({
  item: { id: callId, type: 'command_execution', command: COMMAND, aggregated_output: '', exit_code: null, status },
});

const serverItem = (threadId: string, method: string, status: string) => ({
  method,
  params: {
    ...{ threadId, turnId: 'turn-1' },
    item: {
      ...{ type: 'commandExecution', id: callId, command: COMMAND, cwd: process.cwd(), commandActions: [] },
      ...{ status, aggregatedOutput: null },
    },
  },
});

const acpUpdate = (sessionId: string, update: object) => ({
  ...{ jsonrpc: '2.0', method: 'session/update' },
  params: { sessionId, update: { toolCallId: callId, ...update } },
});
const acpCall = { toolCallId: callId, title: COMMAND, kind: 'execute', rawInput: { command: COMMAND } };

const copilotItem = (type: string, data: object) => ({
  ...{ type, id: `${type}_refused`, timestamp: '2026-01-01T00:00:00.000Z', parentId: null },
  data: { toolCallId: callId, turnId: '0', ...data },
});

const serverCall = (session: string, state: object) =>
  opencodePart(session, { type: 'tool', tool: 'bash', callID: callId, state });

/** By format. An agent without an entry has no word for a refusal. */
export const refusals: Readonly<Record<string, (session: string) => Refusal>> = {
  'codex-cli': () => ({
    before: [{ type: 'item.started', ...codexItem('in_progress') }],
    after: [{ type: 'item.completed', ...codexItem('declined') }],
  }),
  'codex-app-server': (threadId) => ({
    before: [serverItem(threadId, 'item/started', 'inProgress')],
    question: {
      ...{ id: 7, method: 'item/commandExecution/requestApproval' },
      params: { threadId, turnId: 'turn-1', itemId: callId, command: COMMAND, cwd: process.cwd() },
    },
    after: [serverItem(threadId, 'item/completed', 'declined')],
  }),
  'claude-code': (session) =>
    claudeLike(session, 'Bash', 'It needs approval.', [
      { type: 'system', subtype: 'permission_denied', tool_name: 'Bash', tool_use_id: callId, session_id: session },
    ]),
  'qwen-code': (session) =>
    claudeLike(session, 'run_shell_command', 'This "run_shell_command" invocation was denied by permission rules.', []),
  'gemini-cli': () => ({
    before: [
      { type: 'tool_use', tool_name: 'run_shell_command', tool_id: callId, parameters: { command: COMMAND } },
    ],
    after: [
      {
        ...{ type: 'tool_result', tool_id: callId, status: 'error', output: 'Denied.' },
        error: { type: 'policy_violation', message: 'Tool execution denied by policy.' },
      },
    ],
  }),
  'opencode-cli': (sessionID) => ({
    before: [],
    after: [
      {
        ...{ type: 'tool_use', timestamp: 1, sessionID },
        part: {
          ...{ id: callId, sessionID, messageID: 'msg_1', type: 'tool', tool: 'bash', callID: callId },
          state: {
            ...{ status: 'error', input: { command: COMMAND }, time: { start: 1, end: 2 } },
            error: 'The user rejected permission to use this specific tool call.',
          },
        },
      },
    ],
  }),
  harness: () => harnessRefusal(COMMAND, callId),
  'opencode-sdk': (sessionID) => ({
    before: [
      serverCall(sessionID, { status: 'running', input: { command: COMMAND }, time: { start: 1 } }),
      {
        type: 'permission.asked',
        properties: {
          ...{ id: 'per_1', sessionID, permission: 'bash', patterns: [COMMAND], always: [] },
          ...{ metadata: { command: COMMAND }, tool: { messageID: 'msg_1', callID: callId } },
        },
      },
    ],
    after: [
      serverCall(sessionID, {
        ...{ status: 'error', input: { command: COMMAND }, time: { start: 1, end: 2 } },
        error: 'The user rejected permission to use this specific tool call.',
      }),
    ],
  }),
  copilot: () => ({
    before: [copilotItem('tool.execution_start', { toolName: 'bash', arguments: { command: COMMAND } })],
    after: [
      copilotItem('tool.execution_complete', { success: false, error: { message: 'Denied.', code: 'denied' } }),
    ],
  }),
  acp: (session) => ({
    before: [acpUpdate(session, { ...acpCall, sessionUpdate: 'tool_call', status: 'pending' })],
    question: {
      ...{ sessionId: session, toolCall: acpCall },
      options: [
        { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    },
    after: [acpUpdate(session, { sessionUpdate: 'tool_call_update', status: 'failed' })],
  }),
  events: () => ({
    before: [{ type: 'action.called', callId, name: 'shell', input: { command: COMMAND } }],
    after: [{ type: 'action.result', callId, status: 'rejected' }],
  }),
};
