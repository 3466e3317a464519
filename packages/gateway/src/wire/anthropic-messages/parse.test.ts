import { expect, test } from 'vitest';
import { parseMessagesRequest } from './parse.ts';

const parse = (body: unknown) => parseMessagesRequest(Buffer.from(JSON.stringify(body)));

test('a request of Claude Code in the middle of a turn is read', () => {
  const request = parse({
    model: 'claude-sonnet-4-5',
    stream: true,
    system: [
      { type: 'text', text: 'Billing line.' },
      { type: 'text', text: 'You are a coding agent.', cache_control: { type: 'ephemeral' } },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>CLAUDE.md says so</system-reminder>' },
          { type: 'text', text: 'Fix the bug.' },
        ],
      },
      { role: 'system', content: 'Working directory: /work' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Look.', signature: 's' },
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } },
          { type: 'tool_use', id: 't2', name: 'Read', input: { file_path: '/work/a.ts' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'a.ts' },
          {
            type: 'tool_result',
            tool_use_id: 't2',
            content: [{ type: 'text', text: 'export {}' }, { type: 'image' }],
          },
          { type: 'text', text: '<system-reminder>Todo list is empty</system-reminder>' },
        ],
      },
    ],
    tools: [
      { name: 'Bash', description: 'Runs.', input_schema: { type: 'object', properties: { command: {} } } },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
  });

  expect(request.instructions).toBe('Billing line.\nYou are a coding agent.\nWorking directory: /work');
  expect(request.messages).toEqual([
    { role: 'user', text: '<system-reminder>CLAUDE.md says so</system-reminder>\nFix the bug.' },
    {
      role: 'assistant',
      text: 'Looking.',
      thinking: 'Look.',
      toolCalls: [
        { kind: 'function', id: 't1', name: 'Bash', input: { command: 'ls' } },
        { kind: 'function', id: 't2', name: 'Read', input: { file_path: '/work/a.ts' } },
      ],
    },
    {
      role: 'tool',
      toolResults: [
        { callId: 't1', name: 'Bash', output: 'a.ts' },
        { callId: 't2', name: 'Read', output: 'export {}' },
      ],
    },
    { role: 'user', text: '<system-reminder>Todo list is empty</system-reminder>' },
  ]);
  expect(request.tools.map(({ name, kind }) => [name, kind])).toEqual([
    ['Bash', 'function'],
    ['bash', 'function'],
    ['web_search', 'hosted'],
  ]);
  expect(request).toMatchObject({ model: 'claude-sonnet-4-5', stream: true });
});

test('strings are read like blocks', () => {
  expect(parse({ system: 'Be brief.', messages: [{ role: 'user', content: 'Hi' }] })).toMatchObject({
    instructions: 'Be brief.',
    messages: [{ role: 'user', text: 'Hi' }],
    stream: false,
  });
});

test.each([
  {
    messages: [
      null,
      {},
      { role: 'assistant', content: 7 },
      { role: 'user', content: [{ type: 'tool_result' }] },
    ],
  },
  { messages: 'none', tools: {}, system: 3 },
])('values of the wrong shape are skipped: %j', (body) => {
  expect(() => parse(body)).not.toThrow();
});
