import { describe, expect, test } from 'vitest';
import { RequestError } from '../request-error.ts';
import { parseResponsesRequest } from './parse.ts';

const parse = (body: unknown) => parseResponsesRequest(Buffer.from(JSON.stringify(body)));
const text = (role: string, ...texts: string[]) => ({
  type: 'message',
  role,
  content: texts.map((each) => ({ type: role === 'assistant' ? 'output_text' : 'input_text', text: each })),
});

describe('in a request of Codex', () => {
  const request = parse({
    model: 'gpt-5.5',
    stream: true,
    store: false,
    input: [
      text('developer', 'You are a coding agent.'),
      text('developer', '<skills_instructions>none</skills_instructions>'),
      text(
        'user',
        '# AGENTS.md instructions for /work',
        '<environment_context><cwd>/work</cwd></environment_context>',
      ),
      text('user', 'Fix the bug.'),
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Look.' }],
        encrypted_content: 'x',
      },
      text('assistant', 'Looking.'),
      { type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{"cmd":"ls"}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'function_call_output', call_id: 'c1', output: 'a.ts' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'Success.' }] },
      { type: 'some_future_item', payload: [1, 2] },
    ],
    tools: [
      { type: 'function', name: 'exec_command', parameters: { type: 'object', properties: { cmd: {} } } },
      { type: 'custom', name: 'apply_patch', description: 'Patch.', format: { type: 'grammar' } },
      { type: 'web_search' },
      { type: 'namespace', name: 'multi_agent_v1', tools: [{ type: 'function', name: 'spawn_agent' }] },
    ],
  });

  test('developer messages are its instructions', () => {
    expect(request.instructions).toBe(
      'You are a coding agent.\n<skills_instructions>none</skills_instructions>',
    );
  });

  test('the items of one reply are one message, and so are the results of its calls', () => {
    expect(request.messages).toEqual([
      {
        role: 'user',
        text: '# AGENTS.md instructions for /work\n<environment_context><cwd>/work</cwd></environment_context>',
      },
      { role: 'user', text: 'Fix the bug.' },
      {
        role: 'assistant',
        text: 'Looking.',
        thinking: 'Look.',
        toolCalls: [
          { kind: 'function', id: 'c1', name: 'exec_command', input: { cmd: 'ls' } },
          { kind: 'custom', id: 'c2', name: 'apply_patch', input: '*** Begin Patch' },
        ],
      },
      {
        role: 'tool',
        toolResults: [
          { callId: 'c1', name: 'exec_command', output: 'a.ts' },
          { callId: 'c2', name: 'apply_patch', output: 'Success.' },
        ],
      },
    ]);
  });

  test('tools of every kind are offered, also those of a namespace', () => {
    expect(request.tools.map(({ name, kind, namespace }) => [name, kind, namespace])).toEqual([
      ['exec_command', 'function', undefined],
      ['apply_patch', 'custom', undefined],
      ['web_search', 'hosted', undefined],
      ['spawn_agent', 'function', 'multi_agent_v1'],
    ]);
    expect(request).toMatchObject({ model: 'gpt-5.5', stream: true });
  });
});

test('in code mode, the tools are in an input item', () => {
  const { tools, messages } = parse({
    input: [
      {
        type: 'additional_tools',
        role: 'developer',
        tools: [{ type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] }],
      },
      text('user', 'go'),
    ],
  });
  expect(tools).toEqual([{ name: 'exec', kind: 'custom', namespace: 'functions' }]);
  expect(messages).toEqual([{ role: 'user', text: 'go' }]);
});

test('a plain string is the prompt, and instructions may be in their own field', () => {
  expect(parse({ instructions: 'Be brief.', input: 'Hi' })).toMatchObject({
    instructions: 'Be brief.',
    messages: [{ role: 'user', text: 'Hi' }],
    stream: false,
  });
});

test('references to stored items count as the reply that they refer to', () => {
  const { messages } = parse({
    input: [
      text('user', 'go'),
      { type: 'item_reference', id: 'rs_1' },
      { type: 'item_reference', id: 'fc_10' },
      { type: 'function_call_output', call_id: 'c', output: 'ok' },
    ],
  });
  expect(messages.map((message) => message.role)).toEqual(['user', 'assistant', 'tool']);
  expect(messages[1]).toMatchObject({ toolCalls: [{ id: 'fc_10' }] });
});

test.each([
  {
    input: [
      null,
      7,
      'text',
      [],
      { type: 'message' },
      { type: 'message', role: 'user', content: [null, { text: 3 }] },
    ],
  },
  { input: { not: 'a list' }, tools: 'none', model: 5 },
  {
    input: [
      { type: 'function_call', arguments: '{broken' },
      { type: 'reasoning', summary: 'x' },
    ],
    tools: [{}],
  },
])('values of the wrong shape are skipped: %j', (body) => {
  expect(() => parse(body)).not.toThrow();
});

test.each(['', '{"input":', '[]', '"text"', 'null'])(
  'a body that is not a JSON object is refused: %j',
  (body) => {
    expect(() => parseResponsesRequest(Buffer.from(body))).toThrow(RequestError);
  },
);
