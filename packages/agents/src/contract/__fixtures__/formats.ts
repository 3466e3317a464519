import { codexAppServer } from './app-server-format.ts';
import { harness } from './harness-format.ts';
import { opencodeServer } from './opencode-server-format.ts';

/**
 * What each agent prints, reduced to the fields that are read. The shapes are those of the recorded streams in
 * `native/<kind>/__fixtures__`.
 */
export type Format = {
  begin(session: string): object[];
  /** Prints a message, and a command with its output. */
  work(session: string, said: string, command: string, output: string): object[];
  /** `turns` is the number of turns in the session, for agents that report the usage of the whole session. */
  done(session: string, said: string, turns: number): object[];
  failed(session: string, message: string): object[];
  /** Ends the turn with structured output. Absent if the format has none. */
  answer?(session: string, data: object, turns: number): object[];
};

let calls = 0;
const nextId = (): string => `call_${(calls += 1)}`;
const tokens = { input_tokens: 10, output_tokens: 5 };

const codexCli: Format = {
  begin: (session) => [{ type: 'thread.started', thread_id: session }, { type: 'turn.started' }],
  work(_, said, command, output) {
    const item = { id: nextId(), type: 'command_execution', command };
    return [
      { type: 'item.completed', item: { id: nextId(), type: 'agent_message', text: said } },
      {
        type: 'item.started',
        item: { ...item, aggregated_output: '', exit_code: null, status: 'in_progress' },
      },
      {
        type: 'item.completed',
        item: { ...item, aggregated_output: output, exit_code: 0, status: 'completed' },
      },
    ];
  },
  done: (_, said, turns) => [
    { type: 'item.completed', item: { id: nextId(), type: 'agent_message', text: said } },
    { type: 'turn.completed',
      usage: {
        input_tokens: turns * tokens.input_tokens,
        cached_input_tokens: 0,
        output_tokens: turns * tokens.output_tokens,
        reasoning_output_tokens: 0,
      } },
  ],
  failed: (_, message) => [
    { type: 'error', message },
    { type: 'turn.failed', error: { message } },
  ],
  answer: (session, data, turns) => codexCli.done(session, JSON.stringify(data), turns),
};

/** The format of Claude Code and Qwen Code. */
function claudeLike(
  shellTool: string,
  answer: { tool: string; field: string },
  error: (message: string) => object,
): Format {
  const message = (session: string, role: 'assistant' | 'user', content: object[]) => ({
    type: role,
    message: { id: nextId(), type: 'message', role, model: 'model-1', content, usage: tokens },
    parent_tool_use_id: null,
    session_id: session,
    uuid: nextId(),
  });
  const result = (session: string, fields: object) => ({
    type: 'result',
    subtype: 'success',
    is_error: false,
    session_id: session,
    num_turns: 2,
    usage: tokens,
    permission_denials: [],
    ...fields,
  });
  return {
    begin: (session) => [
      { type: 'system', subtype: 'init', cwd: process.cwd(), session_id: session, model: 'model-1', tools: [] },
    ],
    work(session, said, command, output) {
      const id = nextId();
      return [
        message(session, 'assistant', [{ type: 'text', text: said }]),
        message(session, 'assistant', [{ type: 'tool_use', id, name: shellTool, input: { command } }]),
        message(session, 'user', [
          { type: 'tool_result', tool_use_id: id, content: output, is_error: false },
        ]),
      ];
    },
    done: (session, said) => [
      message(session, 'assistant', [{ type: 'text', text: said }]),
      result(session, { result: said }),
    ],
    failed: (session, text) => [result(session, error(text))],
    answer(session, data) {
      const id = nextId();
      return [
        message(session, 'assistant', [{ type: 'tool_use', id, name: answer.tool, input: data }]),
        message(session, 'user', [{ type: 'tool_result', tool_use_id: id, content: 'Taken.', is_error: false }]),
        result(session, { result: JSON.stringify(data), [answer.field]: data }),
      ];
    },
  };
}

const claudeAnswer = { tool: 'StructuredOutput', field: 'structured_output' };
const claudeCode = claudeLike('Bash', claudeAnswer, (result) => ({
  is_error: true,
  terminal_reason: 'api_error',
  api_error_status: 401,
  result,
}));

const qwenAnswer = { tool: 'structured_output', field: 'structured_result' };
const qwenCode = claudeLike('run_shell_command', qwenAnswer, (message) => ({
  subtype: 'error_during_execution',
  is_error: true,
  error: { message },
}));

const geminiCli: Format = {
  begin: (session) => [{ type: 'init', session_id: session, model: 'model-1' }],
  work(__, said, command, output) {
    const tool_id = nextId();
    return [
      { type: 'message', role: 'assistant', content: said, delta: true },
      { type: 'tool_use', tool_name: 'run_shell_command', tool_id, parameters: { command } },
      { type: 'tool_result', tool_id, status: 'success', output },
    ];
  },
  done: (__, said) => [
    { type: 'message', role: 'assistant', content: said, delta: true },
    {
      type: 'result',
      status: 'success',
      stats: { ...tokens, total_tokens: 15, cached: 0, tool_calls: 1, models: {} },
    },
  ],
  failed: (__, message) => [{ type: 'result', status: 'error', error: { type: 'unknown', message } }],
};

function opencodeItem(session: string, type: string, part: object): object {
  const ids = { id: nextId(), sessionID: session, messageID: 'msg_1' };
  return { type, timestamp: 1, sessionID: session, part: { ...ids, ...part } };
}
const stepTokens = { total: 15, input: 10, output: 5, reasoning: 0, cache: { read: 0, write: 0 } };
const opencodeStep = (session: string, reason: string) =>
  opencodeItem(session, 'step_finish', { type: 'step-finish', reason, tokens: stepTokens, cost: 0 });

const opencodeCli: Format = {
  begin: (session) => [opencodeItem(session, 'step_start', { type: 'step-start' })],
  work: (session, said, command, output) => [
    opencodeItem(session, 'text', { type: 'text', text: said }),
    opencodeItem(session, 'tool_use', {
      type: 'tool',
      tool: 'bash',
      callID: nextId(),
      state: {
        status: 'completed',
        input: { command },
        output,
        metadata: { exit: 0 },
        title: command,
        time: { start: 1, end: 2 },
      },
    }),
    opencodeStep(session, 'tool-calls'),
  ],
  done: (session, said) => [
    opencodeItem(session, 'text', { type: 'text', text: said }),
    opencodeStep(session, 'stop'),
  ],
  failed: (session, message) => [
    { type: 'error', timestamp: 1, sessionID: session, error: { name: 'APIError', data: { message } } },
  ],
};

const piMessage = (stopReason: string, content: object[], more: object = {}) => ({
  type: 'message_end',
  message: {
    role: 'assistant',
    content,
    provider: 'gateway',
    model: 'model-1',
    usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15 },
    stopReason,
    timestamp: 1,
    ...more,
  },
});

const pi: Format = {
  begin: (session) => [
    { type: 'session', version: 3, id: session, timestamp: '2026-01-01T00:00:00.000Z', cwd: process.cwd() },
    { type: 'agent_start' },
  ],
  work(__, said, command, output) {
    const id = nextId();
    const text = { type: 'text', text: said };
    const call = { type: 'toolCall', id, name: 'bash', arguments: { command } };
    return [
      piMessage('toolUse', [text, call]),
      { type: 'tool_execution_start', toolCallId: id, toolName: 'bash', args: { command } },
      {
        type: 'tool_execution_end',
        toolCallId: id,
        toolName: 'bash',
        result: { content: [{ type: 'text', text: output }] },
        isError: false,
      },
    ];
  },
  done: (__, said) => [
    piMessage('stop', [{ type: 'text', text: said }]),
    { type: 'agent_end', messages: [], willRetry: false },
  ],
  failed: (__, errorMessage) => [
    piMessage('error', [], { errorMessage }),
    { type: 'agent_end', messages: [], willRetry: false },
  ],
};

const copilotItem = (type: string, data: object) => ({
  type,
  data,
  id: nextId(),
  timestamp: '2026-01-01T00:00:00.000Z',
  parentId: null,
});
const copilotMessage = (content: string, toolRequests: object[]) =>
  copilotItem('assistant.message', { messageId: nextId(), model: 'model-1', content, toolRequests });
const copilotResult = (sessionId: string, exitCode: number) => ({
  type: 'result',
  timestamp: '2026-01-01T00:00:00.000Z',
  sessionId,
  exitCode,
  usage: {},
});

const copilot: Format = {
  begin: () => [copilotItem('assistant.turn_start', { turnId: '0' })],
  work(__, said, command, output) {
    const call = { toolCallId: nextId(), arguments: { command } };
    return [
      copilotMessage(said, [{ ...call, name: 'bash', type: 'function' }]),
      copilotItem('tool.execution_start', { ...call, toolName: 'bash', turnId: '0' }),
      copilotItem('tool.execution_complete', {
        toolCallId: call.toolCallId,
        turnId: '0',
        success: true,
        shellExecution: { exitCode: 0 },
        result: { content: output },
      }),
    ];
  },
  done: (session, said) => [copilotMessage(said, []), copilotResult(session, 0)],
  failed: (session, message) => [
    copilotItem('session.error', { errorType: 'authentication', message, statusCode: 401 }),
    copilotResult(session, 1),
  ],
};

const acpUpdate = (sessionId: string, update: object) => ({
  ...{ jsonrpc: '2.0', method: 'session/update' },
  params: { sessionId, update },
});
const acpText = (session: string, text: string) =>
  acpUpdate(session, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

/** The answer to the prompt has the id that the fake server puts there. */
const acp: Format = {
  begin: () => [],
  work(session, said, command, output) {
    const toolCallId = nextId();
    return [
      acpText(session, said),
      acpUpdate(session, {
        ...{ sessionUpdate: 'tool_call', toolCallId, title: command, kind: 'execute', status: 'in_progress' },
        rawInput: { command },
      }),
      acpUpdate(session, {
        ...{ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' },
        content: [{ type: 'content', content: { type: 'text', text: output } }],
      }),
    ];
  },
  done: (session, said) => [
    acpText(session, said),
    { jsonrpc: '2.0', id: 0, result: { stopReason: 'end_turn', usage: { inputTokens: 10, outputTokens: 5 } } },
  ],
  failed: (_, message) => [{ jsonrpc: '2.0', id: 0, error: { code: -32603, message } }],
};

/** Our own events, for an adapter of the user. */
const events: Format = {
  begin: (sessionId) => [{ type: 'session.started', sessionId, runtime: 'contract' }],
  work(__, said, command, output) {
    const callId = nextId();
    return [
      { type: 'message', role: 'assistant', text: said },
      { type: 'action.called', callId, name: 'shell', input: { command } },
      { type: 'action.result', callId, status: 'completed', output, exitCode: 0 },
    ];
  },
  done: (__, said) => [{ type: 'message', role: 'assistant', text: said }, { ended: 'completed' }],
  failed: (__, message) => [{ type: 'error', message }, { ended: 'failed' }],
  answer: (__, data) => [{ ended: 'completed', data }],
};

/** An entry of bub's tape, a file in its home. */
const tape = (kind: string, payload: object) => ({
  id: (calls += 1),
  kind,
  payload,
  meta: { run_id: 'run-1' },
  date: '2026-01-01T00:00:00.000000+00:00',
});
const tapeEvent = (name: string, data: object) => tape('event', { name, data });
export const bubTape: Format = {
  begin: () => [tapeEvent('loop.start', { model: 'model-1', prompt: '' })],
  work: (__, said, command, output) => [
    tape('message', { role: 'assistant', content: said }),
    tape('tool_call', {
      calls: [
        { id: nextId(), type: 'function', function: { name: 'bash', arguments: JSON.stringify({ cmd: command }) } },
      ],
    }),
    tape('tool_result', { results: [output] }),
  ],
  done: (__, said) => [
    tape('message', { role: 'assistant', content: said }),
    tapeEvent('run', { status: 'ok', usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
    tapeEvent('loop.step', { step: 1, status: 'ok' }),
  ],
  failed: (__, message) => [
    tape('error', { kind: 'provider', message }),
    tapeEvent('loop.step', { step: 1, status: 'error', error: message }),
  ],
};

export const formats = {
  'codex-cli': codexCli,
  'codex-app-server': codexAppServer,
  'claude-code': claudeCode,
  'gemini-cli': geminiCli,
  'qwen-code': qwenCode,
  'opencode-cli': opencodeCli,
  'opencode-sdk': opencodeServer,
  harness,
  pi,
  copilot,
  acp,
  events,
} satisfies Record<string, Format>;
