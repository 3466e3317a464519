import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startModelServer } from '../__fixtures__/model-server.ts';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { systemClock } from '../control/clock.ts';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import { Session } from '../session/session.ts';
import { createModel } from './create-model.ts';

/** One item of a Responses stream, from its announcement to its end. */
function responsesItem(index: number, item: Record<string, unknown>, middle: Record<string, unknown>[] = []) {
  return [
    { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } },
    ...middle.map((event) => ({ output_index: index, item_id: item.id, ...event })),
    { type: 'response.output_item.done', output_index: index, item: { ...item, status: 'completed' } },
  ];
}

function responses(id: string, ...items: unknown[][]) {
  const response = { id, created_at: 1, model: 'gpt-5.2', object: 'response' };
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 40 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
  };
  return {
    events: [
      { type: 'response.created', response },
      ...items.flat(),
      { type: 'response.completed', response: { ...response, incomplete_details: null, usage } },
    ],
  };
}

const reasoning = responsesItem(0, {
  type: 'reasoning',
  id: 'rs_1',
  summary: [],
  encrypted_content: 'sealed',
});

const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch';

test('a coding task over the OpenAI Responses wire', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a.txt'), 'one\n');
  await using server = await startModelServer([
    responses(
      'resp_1',
      reasoning,
      responsesItem(
        1,
        { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'apply_patch', input: patch },
        [{ type: 'response.custom_tool_call_input.delta', delta: patch }],
      ),
      responsesItem(2, {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_2',
        name: 'shell',
        arguments: '{ "command": "cat a.txt" }',
      }),
    ),
    responses(
      'resp_2',
      responsesItem(0, { type: 'message', id: 'msg_1', role: 'assistant', content: [] }, [
        { type: 'response.output_text.delta', content_index: 0, delta: 'It says two.' },
      ]),
    ),
  ]);
  const model = await createModel({
    provider: 'openai',
    model: 'gpt-5.2',
    baseUrl: server.baseUrl,
    apiKey: 'test-key',
  });
  await using session = new Session({
    profile: createOpenAiProfile({ model: 'gpt-5.2' }),
    environment: place.environment,
    model,
    config: { reasoningEffort: 'high' },
  });
  const result = await session.submit('Change one to two.');

  expect(result).toMatchObject({ reason: 'completed', text: 'It says two.', toolRounds: 1, modelCalls: 2 });
  expect(result.usage).toEqual({
    inputTokens: 120,
    outputTokens: 40,
    cacheReadTokens: 80,
    reasoningTokens: 10,
  });
  expect(await readFile(place.path('a.txt'), 'utf8')).toBe('two\n');

  const [first, second] = server.requests;
  expect(first?.path).toBe('/v1/responses');
  expect(first?.headers).toMatchObject({ authorization: 'Bearer test-key', 'x-whetstone-agent': 'loop' });
  expect(first?.body).toMatchObject({
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high' },
    prompt_cache_key: session.id,
  });
  const tools = first?.body.tools as { type: string; name: string }[];
  expect(tools.map((tool) => tool.name)).toEqual([
    'read_file',
    'apply_patch',
    'write_file',
    'shell',
    'grep',
    'glob',
    ...['spawn_agent', 'send_input', 'wait', 'close_agent'],
  ]);
  expect(tools[1]).toMatchObject({ type: 'custom', format: { type: 'grammar', syntax: 'lark' } });

  // The second request repeats what the model sent, sealed reasoning and exact arguments included, then the results.
  const input = second?.body.input as Record<string, unknown>[];
  const tail = input.slice(-5);
  expect(tail[0]).toMatchObject({ type: 'reasoning', id: 'rs_1', encrypted_content: 'sealed' });
  expect(tail[1]).toMatchObject({ type: 'custom_tool_call', call_id: 'call_1', input: patch });
  expect(tail[2]).toMatchObject({
    type: 'function_call',
    call_id: 'call_2',
    arguments: '{ "command": "cat a.txt" }',
  });
  expect(tail[3]).toMatchObject({ type: 'custom_tool_call_output', call_id: 'call_1' });
  expect(tail[3]?.output).toMatch(/^Success\. Updated the following files:\nM a\.txt/);
  expect(tail[4]).toMatchObject({ type: 'function_call_output', call_id: 'call_2' });
  expect(tail[4]?.output).toMatch(/^Exit code: 0\n.*\nOutput:\ntwo$/s);
});

test('arguments that are not JSON go back to OpenAI as an object, with the text in it', async () => {
  await using place = await temporaryEnvironment();
  const call = (index: number, text: string) =>
    responsesItem(index, {
      type: 'function_call',
      id: `fc_${index}`,
      call_id: `call_${index}`,
      name: 'shell',
      arguments: text,
    });
  await using server = await startModelServer([
    responses('resp_1', call(0, '{"command":'), call(1, '')),
    responses('resp_2', responsesItem(0, { type: 'message', id: 'm', role: 'assistant', content: [] })),
  ]);
  const { baseUrl } = server;
  const model = await createModel({ provider: 'openai', model: 'gpt-5.2', baseUrl, apiKey: 'k' });
  const profile = createOpenAiProfile({ model: 'gpt-5.2' });
  const config = { maxRetries: 0 };
  await using session = new Session({ profile, environment: place.environment, model, config });
  await session.submit('go');
  const input = server.requests[1]?.body.input as { type: string; arguments: string }[];
  const sent = input.filter(({ type }) => type === 'function_call').map((item) => JSON.parse(item.arguments));
  expect(sent).toEqual([{ raw_arguments: '{"command":' }, {}]);
});

function anthropicBlock(index: number, block: Record<string, unknown>, ...deltas: Record<string, unknown>[]) {
  return [
    { type: 'content_block_start', index, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function messages(id: string, stopReason: string, ...blocks: unknown[][]) {
  const usage = {
    input_tokens: 60,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 10,
    output_tokens: 1,
  };
  const message = { id, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage };
  return {
    events: [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      ...blocks.flat(),
      {
        type: 'message_delta',
        delta: { stop_reason: stopReason, stop_sequence: null },
        usage: { output_tokens: 20 },
      },
      { type: 'message_stop' },
    ],
  };
}

test('a coding task over the Anthropic Messages wire', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a.txt'), 'one\n');
  await writeFile(place.path('AGENTS.md'), 'Be careful.');
  const edit = JSON.stringify({ file_path: 'a.txt', old_string: 'one', new_string: 'two' });
  await using server = await startModelServer([
    messages(
      'msg_1',
      'tool_use',
      anthropicBlock(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'An edit.' },
        { type: 'signature_delta', signature: 'signed' },
      ),
      anthropicBlock(1, { type: 'text', text: '' }, { type: 'text_delta', text: 'Editing.' }),
      anthropicBlock(
        2,
        { type: 'tool_use', id: 'toolu_1', name: 'edit_file', input: {} },
        { type: 'input_json_delta', partial_json: edit.slice(0, 20) },
        { type: 'input_json_delta', partial_json: edit.slice(20) },
      ),
      anthropicBlock(
        3,
        { type: 'tool_use', id: 'toolu_2', name: 'shell', input: {} },
        { type: 'input_json_delta', partial_json: '{"command":"exit 3"}' },
      ),
    ),
    messages(
      'msg_2',
      'end_turn',
      anthropicBlock(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Done.' }),
    ),
  ]);
  const model = await createModel({
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    baseUrl: `${server.baseUrl}/`,
    apiKey: 'test-key',
  });
  await using session = new Session({
    profile: createAnthropicProfile({ model: 'claude-sonnet-4-5' }),
    environment: place.environment,
    model,
  });
  const result = await session.submit('Change one to two.');

  expect(result).toMatchObject({ reason: 'completed', text: 'Done.', toolRounds: 1 });
  expect(result.usage).toMatchObject({
    inputTokens: 120,
    cacheReadTokens: 60,
    cacheWriteTokens: 20,
    outputTokens: 40,
  });
  expect(await readFile(place.path('a.txt'), 'utf8')).toBe('two\n');

  const [first, second] = server.requests;
  expect(first?.path).toBe('/v1/messages');
  expect(first?.headers).toMatchObject({ 'x-api-key': 'test-key', 'x-whetstone-agent': 'loop' });
  expect(first?.body.max_tokens).toBe(32_000);
  expect(JSON.stringify(first?.body.system)).toContain('Be careful.');
  expect(first?.body.system).toMatchObject([{ type: 'text', cache_control: { type: 'ephemeral' } }]);
  const tools = first?.body.tools as { name: string }[];
  expect(tools.map((tool) => tool.name)).toEqual([
    'read_file',
    'write_file',
    'edit_file',
    'shell',
    'grep',
    'glob',
    ...['spawn_agent', 'send_input', 'wait', 'close_agent'],
  ]);

  const [, assistant, results] = (second?.body.messages ?? []) as {
    role: string;
    content: Record<string, unknown>[];
  }[];
  expect(assistant?.content).toMatchObject([
    { type: 'thinking', thinking: 'An edit.', signature: 'signed' },
    { type: 'text', text: 'Editing.' },
    { type: 'tool_use', id: 'toolu_1', input: JSON.parse(edit) },
    { type: 'tool_use', id: 'toolu_2', input: { command: 'exit 3' } },
  ]);
  expect(results?.content).toMatchObject([
    { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Replaced 1 occurrence in a.txt.' },
    { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, cache_control: { type: 'ephemeral' } },
  ]);
});

/** Waits for nothing; keeps what it was asked to wait. */
function impatientClock() {
  const slept: number[] = [];
  return { ...systemClock, slept, sleep: async (milliseconds: number) => void slept.push(milliseconds) };
}

test('failures of the wire: overload in the stream, a stream that breaks off, a rate limit, a refused key', async () => {
  await using place = await temporaryEnvironment();
  const whole = messages(
    'msg_1',
    'end_turn',
    anthropicBlock(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'ok' }),
  );
  const error = (type: string, message: string) => ({ type: 'error', error: { type, message } });
  await using server = await startModelServer([
    { events: [...whole.events.slice(0, 2), error('overloaded_error', 'Overloaded')] },
    { events: whole.events.slice(0, 3) },
    whole,
    { status: 429, headers: { 'retry-after': '2' }, body: error('rate_limit_error', 'slow down') },
    whole,
    { status: 401, body: error('authentication_error', 'invalid x-api-key') },
  ]);
  const clock = impatientClock();
  const model = await createModel({
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    baseUrl: server.baseUrl,
    apiKey: 'k',
  });
  const profile = createAnthropicProfile({ model: 'claude-sonnet-4-5' });
  await using session = new Session({ profile, environment: place.environment, model, clock });
  expect(await session.submit('one')).toMatchObject({ reason: 'completed', text: 'ok' });
  expect(clock.slept).toHaveLength(2);
  expect(await session.submit('two')).toMatchObject({ reason: 'completed', text: 'ok' });
  expect(clock.slept[2]).toBe(2000);
  expect(await session.submit('three')).toMatchObject({
    reason: 'error',
    error: { code: 'model-authentication-failed' },
  });
  expect(session.state).toBe('CLOSED');
  expect(server.requests).toHaveLength(6);
});

test.each([
  ['nothing', messages('msg_1', 'end_turn')],
  [
    'thinking alone',
    messages(
      'msg_1',
      'end_turn',
      anthropicBlock(0, { type: 'thinking', thinking: 'Hm.', signature: 'signed' }),
    ),
  ],
])(
  'an answer of Anthropic with %s is empty: it is asked for again, and is in no later request',
  async (_, empty) => {
    await using place = await temporaryEnvironment();
    const text = anthropicBlock(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'ok' });
    await using server = await startModelServer([
      ...[empty, empty, empty],
      messages('msg_2', 'end_turn', text),
    ]);
    const name = 'claude-sonnet-4-5';
    const model = await createModel({
      provider: 'anthropic',
      model: name,
      baseUrl: server.baseUrl,
      apiKey: 'k',
    });
    const profile = createAnthropicProfile({ model: name });
    const clock = impatientClock();
    await using session = new Session({ profile, environment: place.environment, model, clock });
    const warnings: string[] = [];
    session.on(({ kind, data }) => {
      if (kind === 'WARNING') warnings.push(data.code);
    });
    expect(await session.submit('one')).toMatchObject({ reason: 'completed', text: '' });
    expect(warnings).toEqual(['model-retry', 'model-retry', 'response-empty']);
    expect(await session.submit('two')).toMatchObject({ reason: 'completed', text: 'ok' });
    const { messages: sent } = server.requests[3]?.body ?? {};
    expect((sent as { role: string }[]).map(({ role }) => role)).toEqual(['user']);
  },
);

test('a server that cannot be reached is a network error after the retries', async () => {
  await using place = await temporaryEnvironment();
  const server = await startModelServer([]);
  await server[Symbol.asyncDispose]();
  const clock = impatientClock();
  const model = await createModel({
    provider: 'openai',
    model: 'gpt-5.2',
    baseUrl: server.baseUrl,
    apiKey: 'k',
  });
  const profile = createOpenAiProfile({ model: 'gpt-5.2' });
  await using session = new Session({ profile, environment: place.environment, model, clock });
  expect(await session.submit('hi')).toMatchObject({
    reason: 'error',
    error: { code: 'model-network-failed' },
  });
  expect(clock.slept).toHaveLength(2);
});
