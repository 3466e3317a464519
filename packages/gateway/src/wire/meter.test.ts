import type { JsonObject, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Metered } from './metered.ts';
import { type NeutralReply, type WireProtocol, wireProtocols } from './neutral.ts';
import { meterResponse } from './response-meter.ts';
import { wires } from './wires.ts';

const meterWhole = (wire: WireProtocol, body: unknown): Metered => {
  const meter = meterResponse(wires[wire].meter(), 'application/json; charset=utf-8');
  meter.push(JSON.stringify(body));
  return meter.result();
};

const frame = (wire: WireProtocol, event: JsonObject): string => {
  const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
  const end = wire === 'gemini-generate-content' ? '\r\n\r\n' : '\n\n';
  return `${name}data: ${JSON.stringify(event)}${end}`;
};

const meterStream = (wire: WireProtocol, events: JsonObject[], ending = ''): Metered => {
  const meter = meterResponse(wires[wire].meter(), 'text/event-stream');
  meter.push(events.map((event) => frame(wire, event)).join('') + ending);
  return meter.result();
};

describe('OpenAI Responses', () => {
  const usage = {
    input_tokens: 1200,
    input_tokens_details: { cached_tokens: 1000, cache_write_tokens: 50 },
    output_tokens: 300,
    output_tokens_details: { reasoning_tokens: 256 },
    total_tokens: 1500,
  };
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'exec_command', arguments: '{}' };
  const patch = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'd', name: 'apply_patch', input: 'x' };
  const response = {
    object: 'response',
    model: 'gpt-5.5-2026-04-01',
    status: 'completed',
    output: [reasoning, call, patch, { type: 'web_search_call', id: 'ws_1' }],
    usage,
  };
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
    { type: 'response.function_call_arguments.delta', delta: '{}' },
    { type: 'response.output_item.done', output_index: 1, item: call },
    { type: 'response.output_item.done', output_index: 2, item: patch },
  ];
  const expected = {
    model: 'gpt-5.5-2026-04-01',
    usage: {
      inputTokens: 150,
      cacheReadTokens: 1000,
      cacheWriteTokens: 50,
      outputTokens: 300,
      reasoningTokens: 256,
    },
    finish: 'tool-calls',
    // Items are in the stream and again in its final response.
    toolCalls: ['exec_command', 'apply_patch'],
  };

  test('whole and streamed', () => {
    expect(meterWhole('openai-responses', response)).toEqual(expected);
    const completed = { type: 'response.completed', response };
    expect(meterStream('openai-responses', [...events, completed])).toEqual(expected);
  });

  test('a stream without its end has calls and no usage', () => {
    expect(meterStream('openai-responses', events, 'data: {"type":"response.comp')).toEqual({
      ...expected,
      usage: null,
      finish: null,
    });
  });

  test.each([
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content-filter'],
    [{ status: 'failed', error: { code: 'server_error' } }, 'error'],
    [{ output: [{ type: 'message' }] }, 'stop'],
  ])('the finish of a response with %j is known', (fields, finish) => {
    const end = { type: 'response.end', response: { ...response, output: [], ...fields } };
    expect(meterStream('openai-responses', [end])).toMatchObject({ finish, usage: expected.usage });
  });
});

describe('OpenAI Chat Completions', () => {
  const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    object: 'chat.completion.chunk',
    model: 'm-1',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const calls = [
    chunk({ role: 'assistant', content: '' }),
    chunk({
      tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'shell', arguments: '' } }],
    }),
    chunk({ tool_calls: [{ index: 0, function: { name: 'shell', arguments: '{"comm' } }] }),
    chunk({
      tool_calls: [{ index: 1, id: 'b', type: 'custom', custom: { name: 'apply_patch', input: '' } }],
    }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: 'and":1}' } }] }),
    chunk({}, 'tool_calls'),
  ];
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 50,
    total_tokens: 150,
    prompt_tokens_details: { cached_tokens: 80 },
    completion_tokens_details: { reasoning_tokens: 30 },
  };
  const expectedUsage = { inputTokens: 20, cacheReadTokens: 80, outputTokens: 50, reasoningTokens: 30 };
  const expected = {
    model: 'm-1',
    usage: expectedUsage,
    finish: 'tool-calls',
    toolCalls: ['shell', 'apply_patch'],
  };

  test('usage in a chunk of its own counts', () => {
    const events = [...calls, { model: 'm-1', choices: [], usage }];
    expect(meterStream('openai-chat-completions', events, 'data: [DONE]\n\n')).toEqual(expected);
  });

  test.each([{ index: 0 }, {}])('calls whose chunks do not number them (%j) all count', (place) => {
    const called = (id: string, name: string): JsonObject =>
      chunk({ tool_calls: [{ ...place, id, type: 'function', function: { name, arguments: '{}' } }] });
    const events = [called('a', 'shell'), called('b', 'read'), chunk({}, 'tool_calls')];
    const { toolCalls } = meterStream('openai-chat-completions', events);
    expect(toolCalls).toEqual(['shell', 'read']);
  });

  test('usage so far in every chunk counts once', () => {
    const events = calls.map((each, index) => ({
      ...each,
      usage: { ...usage, completion_tokens: Math.min(50, index * 10) },
    }));
    expect(meterStream('openai-chat-completions', events)).toEqual(expected);
  });

  test('usage in the last choice and again in a chunk of its own counts once', () => {
    const last = { ...chunk({}, 'tool_calls'), usage };
    const events = [...calls.slice(0, -1), last, { model: 'm-1', choices: [], usage }];
    expect(meterStream('openai-chat-completions', events)).toEqual(expected);
  });

  test('whole', () => {
    const message = {
      content: null,
      tool_calls: [{ id: 'a', function: { name: 'shell', arguments: '{}' } }],
    };
    const body = { model: 'm-1', choices: [{ message, finish_reason: 'tool_calls' }], usage };
    expect(meterWhole('openai-chat-completions', body)).toEqual({ ...expected, toolCalls: ['shell'] });
  });

  test.each([
    [
      'reasoning on top of the completion (xAI)',
      { ...usage, total_tokens: 180 },
      { ...expectedUsage, outputTokens: 80 },
    ],
    [
      "DeepSeek's names for the cache",
      { prompt_tokens: 100, completion_tokens: 5, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
      { inputTokens: 36, cacheReadTokens: 64, outputTokens: 5 },
    ],
    [
      'nothing about the cache',
      { prompt_tokens: 9, completion_tokens: 1 },
      { inputTokens: 9, outputTokens: 1 },
    ],
  ])('%s', (_name, reported, buckets) => {
    expect(meterWhole('openai-chat-completions', { model: 'm', choices: [], usage: reported }).usage).toEqual(
      buckets,
    );
  });

  test('several choices have one usage, and null in other chunks does not remove it', () => {
    const other = {
      ...chunk({ content: 'b' }),
      choices: [{ index: 1, delta: { content: 'b' } }],
      usage: null,
    };
    const events = [
      ...calls,
      other,
      { model: 'm-1', choices: [], usage },
      { model: 'm-1', choices: [], usage: null },
    ];
    expect(meterStream('openai-chat-completions', events).usage).toEqual(expectedUsage);
  });

  test('a missing usage is not a usage of 0', () => {
    expect(meterStream('openai-chat-completions', calls).usage).toBeNull();
  });
});

describe('Anthropic Messages', () => {
  const inputUsage = {
    input_tokens: 12,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 5000,
    cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
  };
  const start = {
    type: 'message_start',
    message: { type: 'message', model: 'claude-x', content: [], usage: { ...inputUsage, output_tokens: 1 } },
  };
  const tool = { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', name: 'Bash' } };
  const hosted = {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'server_tool_use', name: 'web' },
  };
  const delta = (usage: JsonObject) => ({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage });
  const expected = {
    model: 'claude-x',
    usage: { inputTokens: 12, cacheReadTokens: 5000, cacheWriteTokens: 300, outputTokens: 90 },
    cacheWrite1hTokens: 200,
    finish: 'tool-calls',
    toolCalls: ['Bash'],
  };

  test('usage is the same when the end has only the output, has everything again, or comes twice', () => {
    const endings = [
      [delta({ output_tokens: 90 })],
      [delta({ ...inputUsage, output_tokens: 90 })],
      [delta({ ...inputUsage, output_tokens: 40 }), delta({ output_tokens: 90 })],
      [delta({ input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 90 })],
    ];
    for (const ending of endings) {
      expect(meterStream('anthropic-messages', [start, tool, hosted, ...ending])).toEqual(expected);
    }
  });

  test('a repeated start, growing counts and null for unreported counts are read', () => {
    const end = delta({
      input_tokens: 61,
      cache_read_input_tokens: null,
      output_tokens: 2,
      server_tool_use: null,
    });
    const first = { ...start, message: { ...start.message, usage: { input_tokens: 43, output_tokens: 1 } } };
    expect(meterStream('anthropic-messages', [first, first, { type: 'ping' }, end]).usage).toEqual({
      inputTokens: 61,
      outputTokens: 2,
    });
  });

  test('a whole response with thinking is read', () => {
    const body = {
      type: 'message',
      model: 'claude-x',
      content: [{ type: 'thinking' }, { type: 'tool_use', name: 'Bash', input: {} }],
      stop_reason: 'tool_use',
      usage: { ...inputUsage, output_tokens: 90, output_tokens_details: { thinking_tokens: 60 } },
    };
    expect(meterWhole('anthropic-messages', body)).toEqual({
      ...expected,
      usage: { ...expected.usage, reasoningTokens: 60 },
    });
  });

  test("the tokens of a compaction are only in the iterations, and an advisor's tokens are another model's", () => {
    const iterations = [
      { type: 'compaction', input_tokens: 1000, output_tokens: 200 },
      { type: 'message', input_tokens: 12, output_tokens: 90 },
      { type: 'advisor_message', input_tokens: 500, output_tokens: 5 },
    ];
    const events = [start, delta({ output_tokens: 90, iterations })];
    expect(meterStream('anthropic-messages', events).usage).toMatchObject({
      inputTokens: 1012,
      outputTokens: 290,
    });
  });

  test('a stream that ends with an error keeps its counts', () => {
    const error = { type: 'error', error: { type: 'overloaded_error' } };
    expect(meterStream('anthropic-messages', [start, error])).toMatchObject({
      finish: 'error',
      usage: { inputTokens: 12, outputTokens: 1 },
    });
  });
});

describe('Gemini', () => {
  const usageMetadata = {
    promptTokenCount: 1000,
    cachedContentTokenCount: 900,
    candidatesTokenCount: 40,
    thoughtsTokenCount: 60,
    toolUsePromptTokenCount: 7,
    totalTokenCount: 1107,
  };
  const response = (parts: JsonObject[], finishReason?: string): JsonObject => ({
    candidates: [{ content: { role: 'model', parts }, ...present({ finishReason }) }],
    usageMetadata: { ...usageMetadata, candidatesTokenCount: finishReason ? 40 : 3 },
    modelVersion: 'gemini-2.5-pro',
  });
  const call = { functionCall: { name: 'run_shell_command', args: {} } };
  const expected = {
    model: 'gemini-2.5-pro',
    usage: { inputTokens: 107, cacheReadTokens: 900, outputTokens: 100, reasoningTokens: 60 },
    finish: 'tool-calls',
    toolCalls: ['run_shell_command'],
  };

  test('the usage so far in every chunk counts once: whole, streamed and as a list', () => {
    const chunks = [
      response([{ text: 'Hm.', thought: true }]),
      response([call]),
      response([{ text: '' }], 'STOP'),
    ];
    expect(meterStream('gemini-generate-content', chunks)).toEqual(expected);
    expect(meterWhole('gemini-generate-content', chunks)).toEqual(expected);
    expect(meterWhole('gemini-generate-content', response([call], 'STOP'))).toEqual(expected);
    const wrapped = chunks.map((chunk) => ({ response: chunk }));
    expect(meterStream('gemini-generate-content', wrapped)).toEqual(expected);
  });

  test('thoughts before candidates count, and counts that a later chunk omits stay', () => {
    const chunk = (counts: JsonObject): JsonObject => ({ candidates: [], usageMetadata: counts });
    const end = { candidates: [{ finishReason: 'STOP' }] };
    const chunks = [
      chunk({ promptTokenCount: 12, thoughtsTokenCount: 14, totalTokenCount: 26 }),
      chunk({ promptTokenCount: 12, thoughtsTokenCount: 89, totalTokenCount: 101 }),
      chunk({
        promptTokenCount: 12,
        cachedContentTokenCount: 4,
        toolUsePromptTokenCount: 65,
        candidatesTokenCount: 71,
        totalTokenCount: 237,
      }),
      end,
    ];
    expect(meterStream('gemini-generate-content', chunks).usage).toEqual({
      inputTokens: 73,
      cacheReadTokens: 4,
      outputTokens: 160,
      reasoningTokens: 89,
    });
  });

  test.each([
    [response([{ text: 'x' }], 'STOP'), 'stop'],
    [response([], 'MAX_TOKENS'), 'length'],
    [response([], 'MALFORMED_FUNCTION_CALL'), 'error'],
    [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 'content-filter'],
  ])('%#: the finish is %s', (body, finish) => {
    expect(meterWhole('gemini-generate-content', body).finish).toBe(finish);
  });
});

describe('a stream that is cut off before its end', () => {
  const gemini = (finishReason?: string): JsonObject => ({
    candidates: [{ content: { parts: [{ text: 'x' }] }, ...present({ finishReason }) }],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5 },
  });
  const chat = (finish_reason: string | null): JsonObject => ({
    choices: [{ index: 0, delta: { content: 'x' }, finish_reason }],
    usage: { prompt_tokens: 7, completion_tokens: 5 },
  });
  const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } };
  const message = [
    { type: 'message_start', message: { usage: { input_tokens: 7, output_tokens: 1 } } },
    stop,
  ];
  const response = (status: string, usage: JsonObject | null): JsonObject => ({
    type: `response.${status}`,
    response: { object: 'response', status, usage },
  });
  const usage = { inputTokens: 7, outputTokens: 5 };

  test.each<[string, WireProtocol, JsonObject[], string, { cutOff: boolean; usage: Usage | null }]>([
    ['usage so far', 'gemini-generate-content', [gemini()], '', { cutOff: true, usage: null }],
    ['a finish reason', 'gemini-generate-content', [gemini('STOP')], '', { cutOff: false, usage }],
    ['usage so far', 'openai-chat-completions', [chat(null)], '', { cutOff: true, usage: null }],
    ['a finish reason', 'openai-chat-completions', [chat('stop')], '', { cutOff: false, usage }],
    ['[DONE]', 'openai-chat-completions', [chat(null)], 'data: [DONE]\n\n', { cutOff: false, usage }],
    ['a start', 'anthropic-messages', message.slice(0, 1), '', { cutOff: true, usage: null }],
    ['a final usage, and no end', 'anthropic-messages', message, '', { cutOff: true, usage }],
    ['an end', 'anthropic-messages', [...message, { type: 'message_stop' }], '', { cutOff: false, usage }],
    ['a start', 'openai-responses', [response('in_progress', null)], '', { cutOff: true, usage: null }],
    [
      'an end',
      'openai-responses',
      [response('completed', { input_tokens: 7, output_tokens: 5 })],
      '',
      { cutOff: false, usage },
    ],
  ])('with %s: %s', (_, wire, events, ending, expected) => {
    const meter = meterResponse(wires[wire].meter(), 'text/event-stream');
    meter.push(events.map((event) => frame(wire, event)).join('') + ending);
    expect({ usage: meter.result().usage, cutOff: meter.cutOff() }).toEqual(expected);
  });
});

test('a stream is read the same in whatever chunks it arrives', () => {
  const wire = 'anthropic-messages';
  const events = [
    { type: 'message_start', message: { model: 'm', usage: { input_tokens: 5, output_tokens: 1 } } },
    {
      type: 'content_block_delta',
      delta: { type: 'text_delta', text: 'é😀\n\ndata: {"type":"message_delta"}' },
    },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
  ];
  const bytes = Buffer.from(events.map((event) => frame(wire, event)).join(': comment\r\n\r\n'));
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 })), (cuts) => {
      const meter = meterResponse(wires[wire].meter(), 'text/event-stream');
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        meter.push(bytes.subarray(at, at + cut));
        at += cut;
      }
      expect(meter.result()).toMatchObject({
        usage: { inputTokens: 5, outputTokens: 9 },
        finish: 'stop',
      });
    }),
  );
});

describe.each(wireProtocols)('%s: the meter reads exactly the tokens that the encoder wrote', (wire) => {
  const count = fc.integer({ min: 0, max: 2 ** 40 });
  const usages = fc
    .record({
      inputTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
      outputTokens: count,
      share: fc.nat(100),
    })
    .map(
      ({ share, ...usage }): Required<Usage> => ({
        ...usage,
        // Gemini has no cache writes.
        cacheWriteTokens: wire === 'gemini-generate-content' ? 0 : usage.cacheWriteTokens,
        reasoningTokens: Math.floor((usage.outputTokens * share) / 100),
      }),
    );
  const reply = (usage: Usage): NeutralReply => ({
    id: 'a',
    model: 'm',
    createdAt: 0,
    text: 'Looking.',
    toolCalls: [{ kind: 'function', id: 'c', name: 'shell', input: {} }],
    usage,
    finish: 'tool-calls',
  });
  const nothing = {
    inputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
  };

  test('whole and streamed', () => {
    const request = wires[wire].parse(Buffer.from('{"stream_options":{"include_usage":true}}'), {
      stream: true,
    });
    fc.assert(
      fc.property(usages, (usage) => {
        const streamed = meterResponse(wires[wire].meter(), 'text/event-stream');
        for (const event of wires[wire].stream(reply(usage), request)) streamed.push(event);
        for (const metered of [meterWhole(wire, wires[wire].encode(reply(usage))), streamed.result()]) {
          expect({ ...nothing, ...metered.usage }).toEqual(usage);
          expect(metered).toMatchObject({ model: 'm', finish: 'tool-calls', toolCalls: ['shell'] });
        }
      }),
    );
  });
});

test.each([
  '',
  'null',
  '[]',
  '7',
  '{"usage":7,"choices":3,"candidates":"x","output":{},"content":0}',
  '<html>',
])('a response of the wrong shape has no usage: %s', (body) => {
  for (const [name, wire] of Object.entries(wires)) {
    for (const type of ['application/json', 'text/event-stream']) {
      const meter = meterResponse(wire.meter(), type);
      meter.push(type === 'application/json' ? body : `data: ${body}\n\n`);
      expect([name, meter.result().usage]).toEqual([name, null]);
    }
  }
});

describe('usage with a count that is not a count, or without input or output, is unknown and not 0', () => {
  const responses = { input_tokens: 7, output_tokens: 5 };
  const chat = { prompt_tokens: 7, completion_tokens: 5 };
  const gemini = { promptTokenCount: 7, candidatesTokenCount: 5 };
  const whole: Record<WireProtocol, (changed: JsonObject) => JsonObject> = {
    'openai-responses': (changed) => ({ object: 'response', usage: { ...responses, ...changed } }),
    'openai-chat-completions': (changed) => ({ choices: [], usage: { ...chat, ...changed } }),
    'anthropic-messages': (changed) => ({ type: 'message', usage: { ...responses, ...changed } }),
    'gemini-generate-content': (changed) => ({ candidates: [], usageMetadata: { ...gemini, ...changed } }),
  };
  test.each<[WireProtocol, JsonObject, Usage | null]>(
    wireProtocols.flatMap((wire) => {
      const names = { 'openai-chat-completions': chat, 'gemini-generate-content': gemini }[wire as string];
      const [input = '', output = ''] = Object.keys(names ?? responses);
      return [
        [wire, {}, { inputTokens: 7, outputTokens: 5 }],
        [wire, { [input]: -7 }, null],
        [wire, { [output]: '5' }, null],
        [wire, { [output]: 1.5 }, null],
        [wire, { [input]: null }, null],
      ] as [WireProtocol, JsonObject, Usage | null][];
    }),
  )('%s: %j', (wire, changed, usage) => {
    expect(meterWhole(wire, whole[wire](changed)).usage).toEqual(usage);
  });

  test.each<[WireProtocol, JsonObject]>([
    ['openai-responses', { input_tokens_details: { cached_tokens: -1 } }],
    ['openai-chat-completions', { prompt_tokens_details: { cached_tokens: 'many' } }],
    ['anthropic-messages', { cache_read_input_tokens: -1 }],
    ['gemini-generate-content', { thoughtsTokenCount: {} }],
  ])('%s: %j', (wire, changed) => {
    expect(meterWhole(wire, whole[wire](changed)).usage).toBeNull();
  });
});
