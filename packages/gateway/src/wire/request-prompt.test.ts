import { expect, test } from 'vitest';
import type { WireProtocol } from './neutral.ts';
import { readRequestPrompt } from './wires.ts';

const read = (wire: WireProtocol, body: unknown) =>
  readRequestPrompt(wire, Buffer.from(JSON.stringify(body)));

const schema = { type: 'object', properties: { z: {}, a: {} } };

test('OpenAI Responses: the prompt is instructions and developer items, and tools are found wherever they are', () => {
  const web = { type: 'web_search', external_web_access: true };
  const exec = { type: 'custom', name: 'exec', format: { type: 'grammar', syntax: 'lark', definition: 'x' } };
  const prompt = read('openai-responses', {
    instructions: 'First.',
    input: [
      { type: 'additional_tools', role: 'developer', tools: [exec] },
      {
        role: 'developer',
        content: [
          { type: 'input_text', text: ' Second.\n' },
          { type: 'input_text', text: 'Third.' },
        ],
      },
      { role: 'user', content: 'not this' },
      { role: 'system', content: 'Fourth.' },
    ],
    tools: [web],
  });
  expect(prompt).toEqual({ systemPrompt: ['First.', ' Second.\n', 'Third.', 'Fourth.'], tools: [web, exec] });
});

test('OpenAI Chat Completions: the prompt is system and developer messages', () => {
  const tool = { type: 'function', function: { name: 'shell', parameters: schema, strict: false } };
  const prompt = read('openai-chat-completions', {
    messages: [
      { role: 'system', content: 'First.' },
      { role: 'user', content: 'not this' },
      { role: 'developer', content: [{ type: 'text', text: 'Second.' }] },
    ],
    tools: [tool],
  });
  expect(prompt).toEqual({ systemPrompt: ['First.', 'Second.'], tools: [tool] });
});

test('Anthropic Messages: the prompt is the system blocks, and messages with the role system', () => {
  const tool = { name: 'Read', input_schema: schema, cache_control: { type: 'ephemeral' } };
  const prompt = read('anthropic-messages', {
    system: [
      { type: 'text', text: 'First.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Second.' },
    ],
    messages: [
      { role: 'user', content: 'not this' },
      { role: 'system', content: 'Third.' },
    ],
    tools: [tool],
  });
  expect(prompt).toEqual({ systemPrompt: ['First.', 'Second.', 'Third.'], tools: [tool] });
  expect(read('anthropic-messages', { system: 'Alone.' }).systemPrompt).toEqual(['Alone.']);
});

test.each(['systemInstruction', 'system_instruction'])('Gemini: the prompt is the parts of %s', (field) => {
  const tools = [{ functionDeclarations: [{ name: 'replace', parametersJsonSchema: schema }] }];
  const prompt = read('gemini-generate-content', {
    [field]: { role: 'user', parts: [{ text: 'First.' }, { text: 'Second.' }] },
    contents: [{ role: 'user', parts: [{ text: 'not this' }] }],
    tools,
  });
  expect(prompt).toEqual({ systemPrompt: ['First.', 'Second.'], tools });
});

test.each([
  'openai-responses',
  'openai-chat-completions',
  'anthropic-messages',
  'gemini-generate-content',
] as const)(
  '%s: a tool keeps its fields in their order, and a body without prompt and tools has neither',
  (wire) => {
    const tool = { zeta: 1, name: 'x', alpha: { z: 1, a: 2 } };
    expect(JSON.stringify(read(wire, { tools: [tool] }).tools)).toBe(JSON.stringify([tool]));
    expect(read(wire, { tools: 'none', messages: 7, input: null, system: 1 })).toEqual({
      systemPrompt: [],
      tools: [],
    });
  },
);
