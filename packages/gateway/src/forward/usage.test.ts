import { gzipSync } from 'node:zlib';
import { totalTokens, type Usage } from '@whetstone/events';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { keyInFile, sse, startProvider, upstreamsAt } from '../__fixtures__/provider.ts';
import { createGateway, type Gateway, type WireProtocol } from '../index.ts';

/** A provider's answer, whole and streamed, to a call that it bills with `total` tokens, in the buckets of `usage`. */
type Reported = {
  wire: WireProtocol;
  path: string;
  whole: unknown;
  streamed: unknown[];
  usage: Usage;
  total: number;
};

const responsesUsage = {
  input_tokens: 1200,
  input_tokens_details: { cached_tokens: 1000, cache_write_tokens: 50 },
  output_tokens: 300,
  output_tokens_details: { reasoning_tokens: 256 },
  total_tokens: 1500,
};
const response = { object: 'response', model: 'm', status: 'completed', output: [], usage: responsesUsage };

const chatUsage = {
  prompt_tokens: 100,
  completion_tokens: 50,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 80 },
  completion_tokens_details: { reasoning_tokens: 30 },
};
const chatChunk = (content: string, usage: unknown = null) => ({
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  usage,
});

const messageInput = {
  input_tokens: 12,
  cache_creation_input_tokens: 300,
  cache_read_input_tokens: 5000,
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
};
const messageOutput = { output_tokens: 90, output_tokens_details: { thinking_tokens: 60 } };

const geminiUsage = {
  promptTokenCount: 1000,
  cachedContentTokenCount: 900,
  candidatesTokenCount: 40,
  thoughtsTokenCount: 60,
  toolUsePromptTokenCount: 7,
  totalTokenCount: 1107,
};
const geminiChunk = (text: string, usageMetadata: unknown) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] } }],
  usageMetadata,
  modelVersion: 'm',
});

const reports: Reported[] = [
  {
    wire: 'openai-responses',
    path: '/v1/responses',
    whole: response,
    // Usage is in the last event, after the same response without usage.
    streamed: [
      { type: 'response.created', response: { ...response, status: 'in_progress', usage: null } },
      { type: 'response.output_text.delta', delta: 'é' },
      { type: 'response.completed', response },
    ],
    usage: {
      inputTokens: 150,
      cacheReadTokens: 1000,
      cacheWriteTokens: 50,
      outputTokens: 300,
      reasoningTokens: 256,
    },
    total: 1500,
  },
  {
    wire: 'openai-chat-completions',
    path: '/v1/chat/completions',
    whole: { model: 'm', choices: [{ message: { content: 'é' }, finish_reason: 'stop' }], usage: chatUsage },
    // The usage so far is in every chunk, in the last choice, and once more in a chunk of its own.
    streamed: [
      chatChunk('é', { ...chatUsage, completion_tokens: 10, total_tokens: 110 }),
      chatChunk('b', chatUsage),
      { model: 'm', choices: [], usage: chatUsage },
      '[DONE]',
    ],
    usage: { inputTokens: 20, cacheReadTokens: 80, outputTokens: 50, reasoningTokens: 30 },
    total: 150,
  },
  {
    wire: 'anthropic-messages',
    path: '/v1/messages',
    whole: {
      type: 'message',
      model: 'm',
      content: [],
      stop_reason: 'end_turn',
      usage: { ...messageInput, ...messageOutput },
    },
    // The input is at the start and again at the end; the output so far at the start, and all of it at the end.
    streamed: [
      {
        type: 'message_start',
        message: { type: 'message', model: 'm', content: [], usage: { ...messageInput, output_tokens: 4 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'é' } },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { ...messageInput, ...messageOutput },
      },
      { type: 'message_stop' },
    ],
    usage: {
      inputTokens: 12,
      cacheReadTokens: 5000,
      cacheWriteTokens: 300,
      outputTokens: 90,
      reasoningTokens: 60,
    },
    total: 12 + 300 + 5000 + 90,
  },
  {
    wire: 'gemini-generate-content',
    path: '/v1beta/models/m:generateContent',
    whole: geminiChunk('é', geminiUsage),
    // The usage so far is in every chunk.
    streamed: [
      geminiChunk('é', { promptTokenCount: 1000, thoughtsTokenCount: 20, totalTokenCount: 1020 }),
      geminiChunk('b', { ...geminiUsage, candidatesTokenCount: 3, totalTokenCount: 1070 }),
      { ...geminiChunk('', geminiUsage), candidates: [{ finishReason: 'STOP' }] },
    ],
    usage: { inputTokens: 107, cacheReadTokens: 900, outputTokens: 100, reasoningTokens: 60 },
    total: 1107,
  },
];

let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());

describe.each(reports)(
  "$wire: a lane's totals are the provider's, for an answer",
  ({ wire, path, whole, streamed, usage, total }) => {
    test('that is whole, streamed, cut anywhere or compressed', async () => {
      let call = 0;
      await using provider = await startProvider(async (reply, request) => {
        const isStream = request.url.includes('alt=sse') || request.body.includes('"stream":true');
        const body = Buffer.from(isStream ? sse(...streamed) : JSON.stringify(whole));
        const compresses = call % 2 === 1;
        const bytes = compresses ? gzipSync(body) : body;
        reply.writeHead(200, {
          'content-type': isStream ? 'text/event-stream' : 'application/json',
          ...(compresses ? { 'content-encoding': 'gzip' } : {}),
        });
        call += 1;
        // Pieces that cut every event and every code point.
        for (let at = 0; at < bytes.length; at += 17) {
          reply.write(bytes.subarray(at, at + 17));
          await new Promise(setImmediate);
        }
        reply.end();
      });
      const upstreams = upstreamsAt(provider.url, keyInFile('key'));
      await using lane = await gateway.open({ owner: 'a', mode: { kind: 'forward', upstreams } });
      const streamPath = path.replace(':generateContent', ':streamGenerateContent?alt=sse');
      const calls: [string, string][] = [
        [path, '{"model":"m"}'],
        [path, '{"model":"m"}'],
        [streamPath, '{"model":"m","stream":true}'],
        [streamPath, '{"model":"m","stream":true}'],
      ];
      for (const [target, body] of calls) {
        const response = await fetch(`${lane.baseUrl}${target}`, {
          method: 'POST',
          headers: { 'x-api-key': lane.key },
          body,
        });
        expect(response.status).toBe(200);
        await response.text();
      }
      expect(lane.ledger.map((line) => line.usage)).toEqual(calls.map(() => usage));
      expect(lane.ledger.map((line) => line.wire)).toEqual(calls.map(() => wire));
      const billed = lane.ledger.reduce((sum, line) => sum + (line.usage ? totalTokens(line.usage) : 0), 0);
      expect(billed).toBe(calls.length * total);
    });
  },
);

test('a client that leaves before the end of an answer of Anthropic does not get its output for a token', async () => {
  await using provider = await startProvider((reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    const usage = { input_tokens: 12, output_tokens: 1 };
    const delta = { type: 'text_delta', text: 'x'.repeat(8000) };
    reply.write(
      sse(
        { type: 'message_start', message: { type: 'message', model: 'm', content: [], usage } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta },
      ),
    );
  });
  const upstreams = upstreamsAt(provider.url, keyInFile('key'));
  await using lane = await gateway.open({
    owner: 'a',
    mode: { kind: 'forward', upstreams },
    budget: { tokens: 2000 },
  });
  const ask = (signal?: AbortSignal) =>
    fetch(`${lane.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': lane.key },
      body: '{"model":"m","stream":true}',
      ...(signal && { signal }),
    });
  const client = new AbortController();
  const reader = (await ask(client.signal)).body?.getReader();
  for (let size = 0; size < 8000; ) size += (await reader?.read())?.value?.length ?? 8000;
  client.abort();
  const unmetered = { usage: null, flags: ['unmetered'] };
  await vi.waitFor(() => expect(lane.ledger[0]).toMatchObject(unmetered), { timeout: 20_000 });
  expect((await ask()).status).toBe(403);
  expect(lane.ledger[1]?.flags).toContain('over-budget');
});

test.each(reports)(
  '$wire: a stream that ends early is an error in the ledger, without usage',
  async (report) => {
    await using provider = await startProvider((reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.end(sse(report.streamed[0]));
    });
    const upstreams = upstreamsAt(provider.url, keyInFile('key'));
    await using lane = await gateway.open({ owner: 'a', mode: { kind: 'forward', upstreams } });
    const target = report.path.replace(':generateContent', ':streamGenerateContent?alt=sse');
    const headers = { 'x-api-key': lane.key };
    await (
      await fetch(`${lane.baseUrl}${target}`, { method: 'POST', headers, body: '{"stream":true}' })
    ).text();
    await vi.waitFor(() => expect(lane.ledger).toHaveLength(1), { timeout: 10_000 });
    expect(lane.ledger[0]).toMatchObject({
      status: 200,
      outcome: 'error',
      error: 'The stream was cut off: it ended without the event that ends it.',
      usage: null,
      flags: ['unmetered'],
    });
  },
);
