import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseStreamEvent } from '@whetstone/events';
import { createGateway, scriptFromSteps } from '@whetstone/gateway';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../agent.ts';
import { fromChatCompletions, fromResponses, fromUiMessages, type HttpAnswer } from '../index.ts';

const converters = { fromChatCompletions, fromResponses, fromUiMessages };

const events = (...items: unknown[]): string =>
  `${items.map((item) => `data: ${typeof item === 'string' ? item : JSON.stringify(item)}\n\n`).join('')}`;

/** A recorded stream of `ai` 7.0.173: `streamText(…).toUIMessageStreamResponse()` with a scripted model. */
const recorded = (name: string): string =>
  readFileSync(join(import.meta.dirname, '__fixtures__', `ui-messages-${name}.txt`), 'utf8');

async function* pieces<Piece>(items: Iterable<Piece>): AsyncGenerator<Piece> {
  yield* items;
}

function withoutTypes(turn: Turn): unknown {
  return turn.events.map(({ type, ...rest }) => [type, ...Object.values(rest)]);
}

describe('the gateway speaks the two OpenAI wires', () => {
  const steps = [
    {
      text: 'Looking – é.',
      thinking: 'Where is it?',
      calls: [
        { tool: 'shell', command: 'ls "a b"' },
        { tool: 'shell', command: 'pwd' },
      ] as const,
      usage: { inputTokens: 70, cacheReadTokens: 30, outputTokens: 12, reasoningTokens: 4 },
    },
  ];
  const parameters = { type: 'object', properties: { command: { type: 'string' } } };
  const requests = [
    {
      wire: 'chat completions',
      path: '/v1/chat/completions',
      convert: fromChatCompletions,
      body: {
        messages: [{ role: 'user', content: 'go' }],
        tools: [{ type: 'function', function: { name: 'shell', parameters } }],
        stream_options: { include_usage: true },
      },
    },
    {
      wire: 'responses',
      path: '/v1/responses',
      convert: fromResponses,
      body: { input: 'go', tools: [{ type: 'function', name: 'shell', parameters }] },
    },
  ];

  test.each(requests.flatMap((request) => [true, false].map((stream) => ({ ...request, stream }))))(
    '$wire, stream: $stream',
    async ({ path, convert, body, stream }) => {
      await using gateway = await createGateway();
      const script = scriptFromSteps(
        'one',
        steps.map((step) => ({ ...step, calls: [...step.calls] })),
      );
      await using lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script } });
      const answer = await fetch(lane.baseUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${lane.key}` },
        body: JSON.stringify({
          model: 'gpt-5.5',
          stream,
          ...body,
          ...(!stream && { stream_options: undefined }),
        }),
      });
      const turn = await convert(answer);
      const called = turn.events.filter(({ type }) => type === 'action.called');
      expect(turn.events.map(({ type }) => type)).toEqual([
        ...['thinking', 'message', 'action.called', 'action.called', 'usage'],
      ]);
      expect(turn.events).toContainEqual({ type: 'message', role: 'assistant', text: 'Looking – é.' });
      expect(turn.events).toContainEqual({ type: 'thinking', text: 'Where is it?' });
      expect(called).toMatchObject([
        { name: 'shell', input: { command: 'ls "a b"' } },
        { name: 'shell', input: { command: 'pwd' } },
      ]);
      expect(new Set(called.map((event) => 'callId' in event && event.callId)).size).toBe(2);
      expect(turn).toMatchObject({
        status: 'completed',
        usage: { inputTokens: 70, cacheReadTokens: 30, outputTokens: 12, reasoningTokens: 4 },
      });
    },
  );

  test.each(requests)(
    '$wire: a refused request is a failed turn that says why',
    async ({ path, convert }) => {
      await using gateway = await createGateway();
      const script = scriptFromSteps('one', []);
      await using lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script } });
      const turn = await convert(await fetch(lane.baseUrl + path, { method: 'POST', body: '{}' }));
      expect(turn.status).toBe('failed');
      expect(turn.events).toMatchObject([
        { type: 'error', message: expect.stringMatching(/^HTTP 401 .+: .+key/i) },
      ]);
    },
  );
});

describe('chat completions', () => {
  test.each<[what: string, answer: unknown, expected: Partial<Turn>]>([
    [
      'a refusal',
      { choices: [{ message: { content: null, refusal: 'No.' }, finish_reason: 'stop' }] },
      { status: 'completed', events: [{ type: 'message', role: 'assistant', text: 'No.' }] },
    ],
    [
      'an answer that was cut off',
      { choices: [{ message: { content: 'Once' }, finish_reason: 'length' }] },
      {
        status: 'failed',
        events: [
          { type: 'message', role: 'assistant', text: 'Once' },
          { type: 'error', message: 'The answer was cut off: length.' },
        ],
      },
    ],
    [
      'arguments that are not JSON, a legacy call, a second choice and a key of its own',
      {
        choices: [
          {
            message: {
              content: [
                { type: 'text', text: 'a' },
                { type: 'text', text: 'b' },
              ],
              tool_calls: [{ id: 'x', function: { name: 'f', arguments: '{"half' } }],
              function_call: { name: 'g', arguments: '' },
              audio: { id: 'sound' },
            },
            finish_reason: 'tool_calls',
          },
          { message: { content: 'other' } },
        ],
      },
      {
        status: 'completed',
        events: [
          { type: 'message', role: 'assistant', text: 'ab' },
          { type: 'action.called', callId: 'x', name: 'f', input: '{"half' },
          { type: 'action.called', callId: 'call-1', name: 'g', input: {} },
          { type: 'raw', native: { audio: { id: 'sound' } } },
          { type: 'raw', native: { message: { content: 'other' } } },
        ],
      },
    ],
    [
      'an error with status 200',
      { error: { message: 'overloaded' } },
      { status: 'failed', events: [{ type: 'error', message: 'overloaded' }] },
    ],
    [
      'something else',
      { hello: 1 },
      {
        status: 'failed',
        events: [
          { type: 'raw', native: { hello: 1 } },
          { type: 'error', message: 'The answer is not a chat completion.' },
        ],
      },
    ],
  ])('%s', async (_, answer, expected) => {
    expect(await fromChatCompletions(JSON.stringify(answer))).toEqual(expected);
    expect(await fromChatCompletions(answer as object)).toEqual(expected);
  });

  test('a stream with interleaved calls, an unknown event and an error in the middle', async () => {
    const delta = (content: object, rest = {}) => ({ choices: [{ index: 0, delta: content, ...rest }] });
    const call = (index: number, id: string | undefined, name: string | undefined, text: string) =>
      delta({ tool_calls: [{ index, id, function: { name, arguments: text } }] });
    const turn = await fromChatCompletions(
      events(
        delta({ role: 'assistant', content: 'Hel' }),
        delta({ content: 'lo' }),
        call(0, 'a', 'first', '{"x"'),
        call(1, 'b', 'second', '{'),
        call(0, undefined, undefined, ':1}'),
        call(1, undefined, undefined, '}'),
        { object: 'something.new' },
        'not json',
        delta({}, { finish_reason: 'tool_calls' }),
        '[DONE]',
      ),
    );
    expect(turn.status).toBe('completed');
    expect(turn.events).toEqual([
      { type: 'raw', native: { object: 'something.new' } },
      { type: 'raw', native: 'not json' },
      { type: 'message', role: 'assistant', text: 'Hello' },
      { type: 'action.called', callId: 'a', name: 'first', input: { x: 1 } },
      { type: 'action.called', callId: 'b', name: 'second', input: {} },
    ]);
    const broken = await fromChatCompletions(
      events(delta({ content: 'Hel' }), { error: { message: 'gone' } }),
    );
    expect(broken).toMatchObject({
      status: 'failed',
      events: [{ text: 'Hel' }, { message: 'gone' }, { message: 'The stream ended before the answer did.' }],
    });
  });
});

describe('responses', () => {
  test("the provider's own tools have their results", async () => {
    const turn = await fromResponses({
      status: 'completed',
      output: [
        { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', query: 'q' } },
        {
          type: 'mcp_call',
          id: 'm',
          server_label: 'files',
          name: 'read',
          arguments: '{"p":1}',
          error: 'denied',
        },
        {
          type: 'code_interpreter_call',
          id: 'c',
          status: 'completed',
          code: '1+1',
          outputs: [{ logs: '2' }],
        },
        { type: 'function_call_output', call_id: 'f', output: 'done' },
        { type: 'image_generation_call', id: 'i' },
        { type: 'reasoning', summary: [], encrypted_content: 'xyz' },
        {
          type: 'message',
          content: [
            { type: 'output_text', text: 'A' },
            { type: 'refusal', refusal: 'B' },
          ],
        },
      ],
    });
    expect(withoutTypes(turn)).toEqual([
      ['action.called', 'w', 'web_search', { type: 'search', query: 'q' }],
      ['action.result', 'w', 'completed'],
      ['action.called', 'm', 'mcp__files__read', { p: 1 }],
      ['action.result', 'm', 'failed', 'denied'],
      ['action.called', 'c', 'code_interpreter', { code: '1+1' }],
      ['action.result', 'c', 'completed', [{ logs: '2' }]],
      ['action.result', 'f', 'completed', 'done'],
      ['raw', { type: 'image_generation_call', id: 'i' }],
      ['message', 'assistant', 'AB'],
    ]);
  });

  test('a request for approval makes the turn wait', async () => {
    const item = {
      type: 'mcp_approval_request',
      id: 'r',
      server_label: 'bank',
      name: 'pay',
      arguments: '{}',
    };
    expect(await fromResponses({ status: 'completed', output: [item] })).toMatchObject({
      status: 'waiting',
      events: [
        { type: 'approval.requested' },
        { request: { id: 'r', prompt: 'May mcp__bank__pay be called?' } },
      ],
    });
  });

  test('a stream that breaks off keeps the text so far', async () => {
    const added = (output_index: number, item: object) => ({
      type: 'response.output_item.added',
      output_index,
      item,
    });
    const turn = await fromResponses(
      events(
        { type: 'response.created', response: { status: 'in_progress' } },
        added(0, { type: 'message', content: [] }),
        { type: 'response.output_text.delta', output_index: 0, delta: 'Half ' },
        { type: 'response.output_text.delta', output_index: 0, delta: 'a word' },
        added(1, { type: 'function_call', call_id: 'f', name: 'go', arguments: '' }),
        { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a":1}' },
        { type: 'response.brand_new' },
      ),
    );
    expect(withoutTypes(turn)).toEqual([
      ['raw', { type: 'response.brand_new' }],
      ['message', 'assistant', 'Half a word'],
      ['action.called', 'f', 'go', { a: 1 }],
      ['error', 'The stream ended before the answer did.'],
    ]);
  });

  test.each([
    [
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [] },
      'max_output_tokens',
    ],
    [{ status: 'failed', error: { message: 'server' }, output: [] }, 'server'],
  ])('%j is a failed turn, whole and streamed', async (response, reason) => {
    for (const answer of [response, events({ type: `response.${response.status}`, response })]) {
      expect(await fromResponses(answer)).toMatchObject({
        status: 'failed',
        events: [{ type: 'error', message: expect.stringContaining(reason) }],
      });
    }
  });
});

describe('UI messages of the AI SDK', () => {
  test('reasoning, text, tools, data and metadata are read', async () => {
    const turn = await fromUiMessages(recorded('tools'));
    expect(turn.status).toBe('completed');
    expect(withoutTypes(turn)).toEqual([
      ['raw', { type: 'data-progress', id: 'p', data: { percent: 50 } }],
      ['raw', { type: 'source-url', sourceId: 's', url: 'https://example.test/a' }],
      ['thinking', 'The user wants weather.'],
      ['message', 'assistant', 'Let me look – é.'],
      ['action.called', 'c1', 'weather', { city: 'Paris' }],
      ['action.called', 'c2', 'weather', { city: 'Nowhere' }],
      ['action.result', 'c2', 'failed', 'Error: no such city'],
      ['action.result', 'c1', 'completed', { city: 'Paris', degrees: 21 }],
      ['message', 'assistant', '21 degrees in Paris.'],
      ['raw', { type: 'finish', finishReason: 'stop', messageMetadata: { totalTokens: 30 } }],
    ]);
  });

  test.each([
    ['approval', 'waiting', ['message', 'action.called', 'approval.requested', 'input.requested']],
    ['error', 'failed', ['message', 'error']],
    ['length', 'failed', ['message', 'error']],
  ])('%s: %s', async (name, status, types) => {
    const turn = await fromUiMessages(recorded(name));
    expect(turn.status).toBe(status);
    expect(turn.events.map(({ type }) => type)).toEqual(types);
  });

  test('an answered approval, a repeated step and a text with data in its middle are read', async () => {
    const parts = [
      { type: 'start-step' },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'in vain' },
      { type: 'text-end', id: '1' },
      { type: 'reset-step' },
      { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c' },
      { type: 'tool-approval-response', approvalId: 'a', approved: false },
      { type: 'tool-output-denied', toolCallId: 'c' },
      { type: 'text-delta', id: '2', delta: 'so ' },
      { type: 'data-x', data: 1 },
      { type: 'text-delta', id: '2', delta: 'be it' },
      { type: 'finish' },
    ];
    const expected = [
      ['raw', { type: 'reset-step' }],
      ['approval.requested', 'c'],
      ['input.requested', expect.anything()],
      ['approval.decided', 'c', 'denied'],
      ['action.result', 'c', 'rejected'],
      ['raw', { type: 'data-x', data: 1 }],
      ['message', 'assistant', 'so be it'],
    ];
    for (const answer of [events(...parts), parts, pieces(parts)]) {
      const turn = await fromUiMessages(answer);
      expect(turn.status).toBe('completed');
      expect(withoutTypes(turn)).toEqual(expected);
    }
  });
});

describe.each(Object.entries(converters))('%s', (name, convert) => {
  const streams: Record<string, string> = {
    fromChatCompletions: events(
      { choices: [{ index: 0, delta: { content: 'Grüße, ' } }] },
      { choices: [{ index: 0, delta: { content: '🙂' }, finish_reason: 'stop' }] },
      '[DONE]',
    ),
    fromResponses: events({
      type: 'response.completed',
      response: { status: 'completed', output: [{ type: 'message', content: [{ text: 'Grüße, 🙂' }] }] },
    }),
    fromUiMessages: recorded('tools'),
  };
  const stream = streams[name] ?? '';

  test('the turn is the same however the bytes are split and the lines end', async () => {
    const expected = await convert(stream);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: stream.length * 2 }), { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        async (cuts, end) => {
          const bytes = Buffer.from(stream.replaceAll('\n', end));
          const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
          const chunks = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
          expect(await convert(pieces(chunks))).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('never rejects, and its events can be parsed again', async () => {
    const json = fc.json({ maxDepth: 3 });
    const hostile = fc.oneof(
      fc.string(),
      json,
      fc.array(json).map((items) => events(...items)),
      fc.array(fc.oneof(hostilePart(), fc.anything())),
      fc.array(hostilePart()).map((parts) => events(...parts)),
      fc.uint8Array().map((bytes) => pieces([bytes])),
    );
    await fc.assert(
      fc.asyncProperty(hostile, async (answer) => {
        const turn = await convert(answer as HttpAnswer);
        expect(turn.events.filter((event) => parseStreamEvent(event)?.type !== event.type)).toEqual([]);
        expect(['completed', 'failed', 'waiting']).toContain(turn.status);
      }),
      { numRuns: 300 },
    );
  });

  test('values that cannot become text do not make it throw', async () => {
    const trap = { toString: 1, valueOf: 1, constructor: 1, length: 1 };
    const keys = ['type', 'id', 'delta', 'finishReason', 'errorText', 'toolCallId', 'output_index', 'item'];
    const types = ['text-delta', 'finish', 'error', 'tool-input-available', 'response.output_item.done'];
    const parts = types.map((type) => ({ ...Object.fromEntries(keys.map((key) => [key, trap])), type }));
    const choices = [{ index: trap, delta: { content: trap, tool_calls: [{ index: trap, id: trap }] } }];
    await expect(convert(events({ type: trap }, ...parts, { choices, error: trap }))).resolves.toMatchObject({
      status: 'failed',
    });
  });

  test.each<[what: string, answer: unknown, message: RegExp]>([
    ['nothing', '', /is empty/],
    ['white space', ' \n', /is empty/],
    ['incomplete JSON', '{"choices": [', /not valid JSON/],
    ['endless nesting', `{"choices": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, /not valid JSON/],
    ['null', null, /could not be read/],
    ['a web page', '<html>', /neither JSON nor/],
  ])('%s is a failed turn', async (_, answer, message) => {
    const turn = await convert(answer as HttpAnswer);
    expect(turn.status).toBe('failed');
    expect(turn.events.at(-1)).toMatchObject({ type: 'error', message: expect.stringMatching(message) });
  });

  test('a connection that breaks keeps the events so far', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(stream.slice(0, stream.indexOf('\n\n', stream.length / 2) + 2), () =>
        response.destroy(),
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const turn = await convert(await fetch(url));
    server.close();
    expect(turn.status).toBe('failed');
    expect(turn.events.at(-1)).toMatchObject({ message: expect.stringContaining('could not be read') });
  });
});

/** Objects with the keys that the converters read, and unexpected values. */
function hostilePart(): fc.Arbitrary<Record<string, unknown>> {
  const types = fc.constantFrom(
    ...[
      'text-delta',
      'text-end',
      'tool-input-available',
      'tool-output-error',
      'tool-approval-request',
      'finish',
    ],
    ...[
      'response.completed',
      'response.output_item.done',
      'response.output_text.delta',
      'error',
      'reset-step',
    ],
  );
  const value = fc.jsonValue({ maxDepth: 3 });
  const choice = fc.record({ index: value, message: value, delta: value, finish_reason: value });
  return fc.record(
    {
      type: fc.oneof(types, value),
      ...{ id: value, delta: value, toolCallId: value, input: value, output_index: value, item: value },
      ...{
        choices: fc.oneof(fc.array(choice), value),
        usage: value,
        error: value,
        response: value,
        output: value,
      },
    },
    { requiredKeys: ['type'] },
  );
}
