import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, postJson } from '../../__fixtures__/clients.ts';
import { createGateway, type Gateway, type Lane, type ScriptStep } from '../../index.ts';
import { RequestError } from '../request-error.ts';
import { parseChatRequest } from './parse.ts';

const parse = (body: unknown) => parseChatRequest(Buffer.from(JSON.stringify(body)));

test('a request in the middle of a turn is read', () => {
  const request = parse({
    model: 'qwen3-coder',
    stream: true,
    messages: [
      { role: 'system', content: 'You are a coding agent.' },
      { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        content: [{ type: 'text', text: 'Fix' }, { type: 'image_url' }, { type: 'text', text: 'it.' }],
      },
      {
        role: 'assistant',
        content: 'Looking.',
        reasoning_content: 'Look.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'shell', arguments: '{"command":"ls"}' } },
          { id: 'b', type: 'function', function: { name: 'shell', arguments: '{broken' } },
          { id: 'c', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin Patch' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'a.ts' },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'Success.' }] },
      { role: 'user', content: 'And on.' },
    ],
    tools: [
      { type: 'function', function: { name: 'shell', description: 'Runs.', parameters: { type: 'object' } } },
      { type: 'custom', custom: { name: 'apply_patch', description: 'Patches.' } },
      { type: 'web_search' },
    ],
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
  });
  expect(request).toMatchObject({
    model: 'qwen3-coder',
    stream: true,
    instructions: 'You are a coding agent.\nBe brief.',
    responseSchema: { type: 'object' },
    tools: [
      { name: 'shell', kind: 'function', description: 'Runs.', parameters: { type: 'object' } },
      { name: 'apply_patch', kind: 'custom', description: 'Patches.' },
      { name: 'web_search', kind: 'hosted' },
    ],
  });
  expect(request.messages).toEqual([
    { role: 'user', text: 'Fix\nit.' },
    {
      role: 'assistant',
      text: 'Looking.',
      thinking: 'Look.',
      toolCalls: [
        { kind: 'function', id: 'a', name: 'shell', input: { command: 'ls' } },
        { kind: 'function', id: 'b', name: 'shell', input: {} },
        { kind: 'custom', id: 'c', name: 'apply_patch', input: '*** Begin Patch' },
      ],
    },
    {
      role: 'tool',
      toolResults: [
        { callId: 'a', name: 'shell', output: 'a.ts' },
        { callId: 'c', name: 'apply_patch', output: 'Success.' },
      ],
    },
    { role: 'user', text: 'And on.' },
  ]);
});

test.each([
  { messages: [null, 7, {}, { role: 'assistant', content: 3, tool_calls: [null, {}] }, { role: 'tool' }] },
  { messages: 'none', tools: [{}, { type: 'function' }], model: 5, response_format: 'text' },
])('values of the wrong shape are skipped: %j', (body) => {
  expect(() => parse(body)).not.toThrow();
});

test('a body that is not a JSON object is refused', () => {
  expect(() => parseChatRequest(Buffer.from('[]'))).toThrow(RequestError);
});

let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());
const laneFor = (step: ScriptStep): Promise<Lane> =>
  gateway.open({ owner: 'a', mode: { kind: 'script', script: { name: 's', play: () => step } } });
const usage = { inputTokens: 7, outputTokens: 3 };
const ask = { model: 'm', messages: [{ role: 'user', content: 'go' }] };

/** The chunks of a streamed answer, which must end in `[DONE]`. */
async function chunks(lane: Lane, body: object) {
  const response = await fetch(`${lane.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${lane.key}` },
    body: JSON.stringify({ ...ask, stream: true, ...body }),
  });
  const data = (await response.text()).split('\n\n').map((event) => event.replace(/^data: /, ''));
  expect(data.splice(-2)).toEqual(['[DONE]', '']);
  return data.map((each) => JSON.parse(each));
}

test('usage comes in a last chunk without choices, and only when the request asks for it', async () => {
  await using lane = await laneFor({ text: 'ok', usage });
  const asked = await chunks(lane, { stream_options: { include_usage: true } });
  expect(asked.map((chunk) => chunk.usage?.total_tokens)).toEqual([undefined, undefined, undefined, 10]);
  expect(asked.at(-1).choices).toEqual([]);
  const plain = await chunks(lane, {});
  expect(plain).toHaveLength(3);
  expect(plain.every((chunk) => !('usage' in chunk))).toBe(true);
});

test('reasoning has the name that providers of open models use', async () => {
  const thinking = 'First look around. '.repeat(10);
  await using lane = await laneFor({ thinking, text: 'ok' });
  const deltas = (await chunks(lane, {})).map((chunk) => chunk.choices[0].delta.reasoning_content ?? '');
  expect(deltas.join('')).toBe(thinking);
  expect((await postJson(lane, '/chat/completions', ask)).body).toMatchObject({
    choices: [{ message: { reasoning_content: thinking, content: 'ok' }, finish_reason: 'stop' }],
  });
});

test('a freeform tool is called with plain text, streamed and whole', async () => {
  await using lane = await laneFor({ calls: [{ tool: 'write', path: 'a.txt', content: 'é\n' }] });
  const tools = [{ type: 'custom', custom: { name: 'apply_patch' } }];
  const patch = '*** Begin Patch\n*** Add File: a.txt\n+é\n*** End Patch\n';
  const whole = await postJson(lane, '/v1/chat/completions', { ...ask, tools });
  expect(whole.body).toMatchObject({
    choices: [
      { message: { tool_calls: [{ type: 'custom', custom: { name: 'apply_patch', input: patch } }] } },
    ],
  });
  const calls = (await chunks(lane, { tools })).flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []);
  expect(calls[0]).toMatchObject({ index: 0, type: 'custom', custom: { name: 'apply_patch' } });
  expect(calls.map((each) => each.custom.input).join('')).toBe(patch);
});

test('errors have the shape of OpenAI', async () => {
  await using lane = await laneFor({ calls: [{ tool: 'shell', command: 'ls' }] });
  const impossible = await postJson(lane, '/v1/chat/completions', ask);
  expect([impossible.status, impossible.body]).toEqual([
    400,
    {
      error: {
        message: expect.stringContaining('no offered tool can do "shell"'),
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    },
  ]);
  expect((await call(lane, '/v1/chat/completions', { method: 'POST', key: 'x', body: '{}' })).status).toBe(
    401,
  );
});
