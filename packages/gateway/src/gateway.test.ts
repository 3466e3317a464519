import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, nextCall, postJson } from './__fixtures__/clients.ts';
import {
  createGateway,
  type Gateway,
  GatewayError,
  type Lane,
  type LaneOptions,
  scriptFromSteps,
} from './index.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway({ maxBodyBytes: 100_000 });
});
afterAll(() => gateway.close());

const steps = scriptFromSteps('steps', [{ text: 'Hello.' }]);
const openLane = (options: Partial<LaneOptions> = {}): Promise<Lane> =>
  gateway.open({ owner: 'owner-1', mode: { kind: 'script', script: steps }, ...options });

const responsesCall = { model: 'm', input: 'go' };
const anthropicCall = { model: 'm', messages: [{ role: 'user', content: 'go' }] };
const openaiError = (message: string) => ({
  error: { message: expect.stringContaining(message), type: expect.any(String), param: null, code: null },
});
const anthropicError = (type: string, message: string) => ({
  type: 'error',
  error: { type, message: expect.stringContaining(message) },
});

describe('who may call', () => {
  test.each([
    { authorization: 'Bearer KEY' },
    { 'x-api-key': 'KEY' },
    { 'api-key': 'KEY' },
    { 'x-goog-api-key': 'KEY' },
    { authorization: 'Bearer something else', 'x-api-key': 'KEY' },
  ])('the key is taken from %j', async (headers) => {
    await using lane = await openLane();
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('KEY', lane.key)]),
    );
    const body = JSON.stringify(responsesCall);
    const answer = await call(lane, '/v1/responses', { method: 'POST', key: null, headers: given, body });
    expect(answer.status).toBe(200);
  });

  test("no key, a wrong key and another lane's key get 401 in the provider's shape", async () => {
    await using lane = await openLane();
    await using other = await openLane();
    const body = JSON.stringify(responsesCall);
    for (const key of [null, '', 'wrong', `${lane.key}x`, other.key]) {
      const openai = await call(lane, '/v1/responses', { method: 'POST', key, body });
      expect([openai.status, openai.body]).toEqual([
        401,
        { error: expect.objectContaining({ code: 'invalid_api_key' }) },
      ]);
      const anthropic = await call(lane, '/v1/messages', { method: 'POST', key, body });
      expect([anthropic.status, anthropic.body]).toEqual([
        401,
        anthropicError('authentication_error', 'key'),
      ]);
    }
    expect(lane.ledger.every((line) => line.status === 401 && line.flags.includes('unauthenticated'))).toBe(
      true,
    );
    expect(other.ledger).toEqual([]);
  });

  test('a browser is refused', async () => {
    await using lane = await openLane();
    const answer = await call(lane, '/v1/models', { headers: { origin: 'https://evil.example' } });
    expect([answer.status, answer.body]).toEqual([403, openaiError('Origin')]);
    expect(lane.ledger).toMatchObject([{ status: 403, error: expect.stringContaining('Origin') }]);
  });

  test.each([
    ['evil.example', 403],
    ['localhost.evil.example:80', 403],
    ['localhost:9', 200],
    ['127.0.0.1', 200],
    ['[::1]:80', 200],
  ])('a request for the host %s gets %d', async (host, status) => {
    await using lane = await openLane();
    const sent = httpRequest(`${lane.baseUrl}/v1/models`, {
      headers: { host, authorization: `Bearer ${lane.key}` },
    }).end();
    const [response] = await once(sent, 'response');
    response.resume();
    expect(response.statusCode).toBe(status);
  });
});

describe('requests:', () => {
  test('base URLs with and without /v1 lead to the same place', async () => {
    await using lane = await openLane();
    for (const path of ['/responses', '/v1/responses', '/v1/responses?beta=1', '/responses/']) {
      expect((await postJson(lane, path, responsesCall)).status).toBe(200);
    }
    for (const path of ['/messages', '/v1/messages?beta=true']) {
      expect((await postJson(lane, path, anthropicCall)).status).toBe(200);
    }
  });

  test('the auxiliary calls that clients make at their start are answered', async () => {
    await using lane = await openLane();
    expect((await call(lane, '/api/hello', { method: 'HEAD', key: null })).status).toBe(200);
    expect((await call(lane, '/api/hello')).status).toBe(200);
    expect((await call(lane, '/v1/models')).body).toMatchObject({ object: 'list', data: [{ id: 'steps' }] });
    expect(
      (await call(lane, '/v1/models', { headers: { 'anthropic-version': '2023-06-01' } })).body,
    ).toMatchObject({
      data: [{ type: 'model', id: 'steps' }],
      has_more: false,
    });
    expect(lane.ledger.every((line) => line.flags.includes('auxiliary') && line.usage === null)).toBe(true);
  });

  test('a token count is what the call reports afterwards', async () => {
    await using lane = await openLane();
    const request = { ...anthropicCall, system: 'Be brief.', tools: [{ name: 'Bash', input_schema: {} }] };
    const counted = await postJson(lane, '/v1/messages/count_tokens', request);
    const answered = await postJson(lane, '/v1/messages', { ...request, max_tokens: 100 });
    expect(counted.body).toEqual({ input_tokens: expect.any(Number) });
    expect(answered.body).toMatchObject({ usage: counted.body });
  });

  test('a WebSocket is refused with 426, and the client continues with HTTP', async () => {
    await using lane = await openLane();
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(
      `GET ${new URL(lane.baseUrl).pathname}/v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n` +
        `Upgrade: websocket\r\nSec-WebSocket-Key: x\r\nAuthorization: Bearer ${lane.key}\r\n\r\n`,
    );
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 426 /);
    socket.destroy();
  });

  test('an unknown lane is a 404', async () => {
    const answer = await fetch(`${gateway.url}/lanes/0123456789abcdef/v1/messages`, {
      method: 'POST',
      body: '{}',
    });
    expect([answer.status, await answer.json()]).toEqual([404, anthropicError('not_found_error', 'lane')]);
    expect((await fetch(gateway.url)).status).toBe(404);
  });
});

describe('bodies', () => {
  test.each(['', '{"model":', '[1]', '{"a":"\xff"}'])(
    'a body that is not a JSON object gets 400: %j',
    async (text) => {
      await using lane = await openLane();
      const body = Buffer.from(text, 'latin1');
      const answer = await call(lane, '/v1/responses', { method: 'POST', body });
      expect([answer.status, answer.body]).toEqual([400, openaiError('JSON')]);
      expect(lane.ledger).toMatchObject([
        { status: 400, outcome: 'error', request_bytes: body.length, usage: null },
      ]);
    },
  );

  const json = Buffer.from(JSON.stringify(responsesCall));
  test.each([
    ['gzip', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['br', brotliCompressSync(json)],
    ['zstd', zstdCompressSync(json)],
  ])('a body with %s is decompressed, and the ledger has the decompressed body', async (encoding, body) => {
    await using lane = await openLane();
    await call(lane, '/v1/responses', { method: 'POST', body, headers: { 'content-encoding': encoding } });
    await postJson(lane, '/v1/responses', responsesCall);
    expect(lane.ledger).toMatchObject([
      { status: 200, request_bytes: json.length },
      { status: 200, request_bytes: json.length, request_hash: lane.ledger[0]?.request_hash },
    ]);
  });

  test.each([
    ['snappy', 415, json],
    ['gzip', 400, json],
  ])('a body with %s that cannot be read gets %d', async (encoding, status, body) => {
    await using lane = await openLane();
    const headers = { 'content-encoding': encoding };
    expect((await call(lane, '/v1/responses', { method: 'POST', body, headers })).status).toBe(status);
  });

  test('a body that is too large gets 413, as sent or decompressed', async () => {
    await using lane = await openLane();
    const large = Buffer.alloc(3_000_000, ' ');
    const plain = await call(lane, '/v1/messages', { method: 'POST', body: large });
    expect([plain.status, plain.body]).toEqual([413, anthropicError('request_too_large', '100000 bytes')]);
    const bomb = { method: 'POST', body: gzipSync(large), headers: { 'content-encoding': 'gzip' } };
    expect((await call(lane, '/v1/messages', bomb)).status).toBe(413);
    expect((await postJson(lane, '/v1/messages', anthropicCall)).status).toBe(200);
  });
});

describe('the end of a call:', () => {
  /** More than the sockets between hold. */
  const length = 16_000_000;
  const longText = { name: 'long', play: () => ({ text: 'x'.repeat(length) }) };
  const never = { name: 'never', play: () => new Promise<never>(() => {}) };
  const streamed = JSON.stringify({ ...responsesCall, stream: true });

  /** A streamed call. Its client has read the beginning of the answer. */
  async function startStream(lane: Lane, signal: AbortSignal) {
    const response = await fetch(`${lane.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${lane.key}` },
      body: streamed,
      signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    return reader;
  }

  test('a client that leaves in the middle of a stream ends its call', async () => {
    const { onCall, line } = nextCall();
    await using lane = await openLane({ mode: { kind: 'script', script: longText }, onCall });
    const client = new AbortController();
    await startStream(lane, client.signal);
    client.abort();
    expect(await line).toMatchObject({ outcome: 'client-closed', status: 200 });
    expect((await line).response_bytes).toBeLessThan(length);
    expect((await call(lane, '/v1/models')).status).toBe(200);
  });

  test('when a client leaves before the model has answered, the answer changes nothing any more', async () => {
    const { onCall, line } = nextCall();
    const playing = Promise.withResolvers<void>();
    const late = Promise.withResolvers<{ text: string }>();
    const play = () => {
      playing.resolve();
      return late.promise;
    };
    await using lane = await openLane({ mode: { kind: 'script', script: { name: 'late', play } }, onCall });
    const client = new AbortController();
    const answer = call(lane, '/v1/responses', { method: 'POST', body: streamed, signal: client.signal });
    await playing.promise;
    client.abort();
    await expect(answer).rejects.toThrow();
    expect(await line).toMatchObject({ outcome: 'client-closed', status: null, first_byte_ms: null });
    late.resolve({ text: 'too late' });
    expect((await postJson(lane, '/v1/responses', responsesCall)).status).toBe(200);
    expect(lane.ledger).toMatchObject([{ outcome: 'client-closed', usage: null }, { outcome: 'ok' }]);
  });

  test('closing a lane ends its open calls and none of another lane', async () => {
    const lane = await openLane({ mode: { kind: 'script', script: longText } });
    await using other = await openLane({ mode: { kind: 'script', script: longText } });
    const [reader, otherReader] = await Promise.all(
      [lane, other].map((each) => startStream(each, new AbortController().signal)),
    );
    await lane.close();
    expect(lane.ledger).toMatchObject([{ outcome: 'error', error: 'The lane was closed.' }]);
    await expect(readAll(reader)).rejects.toThrow();
    expect(await readAll(otherReader)).toBeGreaterThan(length);
    expect((await call(lane, '/v1/models')).status).toBe(404);
    await lane.close();
  });

  test('a closed gateway has closed its lanes, frees its port and opens no more lanes', async () => {
    const own = await createGateway();
    const lane = await own.open({ owner: 'a', mode: { kind: 'script', script: never } });
    const answer = call(lane, '/v1/responses', { method: 'POST', body: streamed });
    const failed = expect(answer).rejects.toThrow();
    await Promise.all([own.close(), failed]);
    await expect(own.open({ owner: 'b', mode: { kind: 'script', script: never } })).rejects.toThrow(
      GatewayError,
    );
    await using next = await createGateway({ port: Number(new URL(own.url).port) });
    expect(next.url).toBe(own.url);
  });

  test('a port that is in use is a typed error', async () => {
    const taken = createGateway({ port: Number(new URL(gateway.url).port) });
    await expect(taken).rejects.toMatchObject({ name: 'GatewayError', code: 'gateway-listen-failed' });
  });
});

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<number> {
  let size = 0;
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    size += read.value.length;
  }
  return size;
}
