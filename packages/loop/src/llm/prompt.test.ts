import { expect, test } from 'vitest';
import type { AssistantTurn, HistoryTurn } from '../conversation/turn.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import { PromptBuilder, toModelTools, wireOf } from './prompt.ts';
import { wellFormedJson } from './response-assembler.ts';

const preamble = { systemPrompt: 'system', environmentContext: 'here' };
const base = { id: '1', timestamp: '2026-01-01T00:00:00.000Z' };

const assistant: AssistantTurn = {
  ...base,
  kind: 'assistant',
  provider: 'openai.responses',
  model: 'gpt-5.2',
  parts: [
    {
      type: 'reasoning',
      text: 'hm',
      providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x' } },
    },
    { type: 'text', text: 'Now.', providerMetadata: { openai: { itemId: 'msg_1' } } },
    {
      type: 'tool-call',
      callId: 'a',
      name: 'odd.name',
      input: '{"x": 1}',
      providerMetadata: { openai: { itemId: 'fc' } },
    },
    { type: 'tool-call', callId: 'b', name: 'apply_patch', input: '*** Begin', freeform: true },
    { type: 'tool-call', callId: 'c', name: 'shell', input: '{"half' },
  ],
};
const turns: HistoryTurn[] = [
  { ...base, kind: 'user', content: [{ type: 'image', data: 'aGk=', mediaType: 'image/png' }] },
  assistant,
  {
    ...base,
    kind: 'tool_results',
    results: [
      { callId: 'a', name: 'odd.name', content: 'no', isError: true },
      { callId: 'b', name: 'apply_patch', content: [{ type: 'text', text: 'ok' }], isError: false },
      { callId: 'c', name: 'shell', content: 'bad', isError: true },
    ],
  },
  { ...base, kind: 'steering', content: 'faster' },
  { ...base, kind: 'system', content: 'AGENTS.md has changed.' },
];

test('the own wire gets everything back: metadata, exact arguments, plain error text', () => {
  const prompt = new PromptBuilder(wireOf('openai.responses'), preamble).build(turns);
  expect(prompt.map((message) => message.role)).toEqual([
    'system',
    'user',
    'user',
    'assistant',
    'tool',
    'user',
    'user',
  ]);
  expect(prompt[3]?.content).toMatchObject([
    { type: 'reasoning', providerOptions: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x' } } },
    { type: 'text', providerOptions: { openai: { itemId: 'msg_1' } } },
    { toolName: 'odd_name', input: '{"x": 1}', providerOptions: { openai: { itemId: 'fc' } } },
    { toolName: 'apply_patch', input: '*** Begin' },
    { toolName: 'shell', input: { raw_arguments: '{"half' } },
  ]);
  expect(prompt[4]?.content).toMatchObject([
    { output: { type: 'text', value: 'no' } },
    { output: { type: 'content', value: [{ type: 'text', text: 'ok' }] } },
    { output: { type: 'text', value: 'bad' } },
  ]);
});

test('another wire gets what it can read: no foreign reasoning or metadata, arguments as objects', () => {
  const prompt = new PromptBuilder(wireOf('anthropic.messages'), preamble).build(turns);
  expect(prompt[3]?.content).toEqual([
    { type: 'text', text: 'Now.' },
    { type: 'tool-call', toolCallId: 'a', toolName: 'odd_name', input: { x: 1 } },
    { type: 'tool-call', toolCallId: 'b', toolName: 'apply_patch', input: { input: '*** Begin' } },
    { type: 'tool-call', toolCallId: 'c', toolName: 'shell', input: { raw_arguments: '{"half' } },
  ]);
  expect(prompt[4]?.content).toMatchObject([{ output: { type: 'error-text' } }, {}, {}]);
  const marked = prompt.map((message) => message.providerOptions !== undefined);
  expect(marked).toEqual([true, false, false, false, false, true, true]);
});

test('a blank text beside an image stays away, and results of nothing but blank texts are an empty text', () => {
  const image = { type: 'image', data: 'aGk=', mediaType: 'image/png' } as const;
  const blank = { type: 'text', text: ' \n' } as const;
  const calls = ['a', 'b'].map(
    (callId) => ({ type: 'tool-call', callId, name: 'see', input: '{}' }) as const,
  );
  const results = [[blank, image], [blank]].map((content, index) => ({
    ...{ callId: 'ab'[index] ?? '', name: 'see', content, isError: false },
  }));
  const prompt = new PromptBuilder(wireOf('anthropic.messages'), preamble).build([
    { ...base, kind: 'user', content: [blank, image] },
    { ...base, kind: 'assistant', provider: 'anthropic.messages', model: 'm', parts: calls },
    { ...base, kind: 'tool_results', results },
  ]);
  const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } };
  expect(prompt[2]?.content).toEqual([file]);
  expect(prompt[4]?.content).toMatchObject([
    { output: { type: 'content', value: [file] } },
    { output: { type: 'text', value: '' } },
  ]);
});

test('messages stay the same objects as the history grows, and a prompt is not changed afterwards', () => {
  const builder = new PromptBuilder(wireOf('fake.model'), preamble);
  const first = builder.build(turns.slice(0, 2));
  const second = builder.build(turns);
  expect(first).toHaveLength(4);
  for (const [index, message] of first.entries()) expect(second[index]).toBe(message);
});

test('a grammar tool is a function where the wire has no grammar tools', () => {
  const definitions: ToolDefinition[] = [
    {
      type: 'freeform',
      name: 'apply_patch',
      description: 'patches',
      grammar: { syntax: 'lark', definition: 'start: "x"' },
      argument: { name: 'patch', description: 'the patch' },
    },
    { type: 'provider', name: 'web_search', description: '', id: 'openai.web_search', args: { depth: 1 } },
  ];
  expect(toModelTools(definitions, wireOf('openai.responses'))).toMatchObject([
    {
      type: 'provider',
      id: 'openai.custom',
      args: { format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    },
    { type: 'provider', id: 'openai.web_search', args: { depth: 1 } },
  ]);
  expect(toModelTools(definitions, wireOf('openai.chat'))[0]).toEqual({
    type: 'function',
    name: 'apply_patch',
    description: 'patches',
    inputSchema: {
      type: 'object',
      properties: { patch: { type: 'string', description: 'the patch' } },
      required: ['patch'],
    },
  });
});

test('JSON text loses its lone surrogates, and nothing else', () => {
  expect(wellFormedJson('{ "a" : "\\ud83d\\ude00 \\u00e9" }')).toBe('{"a":"😀 é"}');
  expect(wellFormedJson('{ "a" : 1.0 }')).toBe('{ "a" : 1.0 }');
  expect(JSON.parse(wellFormedJson('{"\\ud83d":["\\ude00x",{"b":"\\ud83d"}]}'))).toEqual({
    '�': ['�x', { b: '�' }],
  });
  expect(wellFormedJson('{"half":"\\ud83d')).toBe('{"half":"\\ufffd');
  expect(wellFormedJson('no json \ud83d')).toBe('no json �');
});
