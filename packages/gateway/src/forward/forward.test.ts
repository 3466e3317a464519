import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, clientOf, nextCall, postJson, shellTool, userPrompt, ways } from '../__fixtures__/clients.ts';
import { keyInFile, sendJson, sse, startProvider, upstreamsAt } from '../__fixtures__/provider.ts';
import { createGateway, type Gateway, type Lane, type LaneOptions, type WireProtocol } from '../index.ts';
import { maskKey } from './mask-key.ts';

const realKey = 'sk-real-canary-8b1f0c2e';
let gateway: Gateway;
let folder: string;
let keyFile: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-forward-'));
  keyFile = join(folder, 'key');
  await writeFile(keyFile, `${realKey}\n`);
  gateway = await createGateway();
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

const forwardTo = (url: string, options: Partial<LaneOptions> = {}): Promise<Lane> =>
  gateway.open({
    owner: 'a',
    mode: { kind: 'forward', upstreams: upstreamsAt(url, { file: keyFile }) },
    ...options,
  });

const wires: WireProtocol[] = [
  'openai-responses',
  'openai-chat-completions',
  'anthropic-messages',
  'gemini-generate-content',
];

describe.each(wires)('%s through the gateway', (wire) => {
  test.each(ways)('%s: the ledger counts what the client gets', async (_way, receive) => {
    // A scripted gateway is the provider, and its ledger is the provider's own record.
    await using upstream = await createGateway();
    const usage = { inputTokens: 100, cacheReadTokens: 20, outputTokens: 50, reasoningTokens: 40 };
    await using provider = await upstream.open({
      owner: 'provider',
      mode: {
        kind: 'script',
        script: {
          name: 's',
          play: () => ({
            thinking: 'Hm.',
            text: 'Looking.',
            calls: [{ tool: 'shell', command: 'ls' }],
            usage,
          }),
        },
      },
    });
    await using lane = await gateway.open({
      owner: 'a',
      mode: {
        kind: 'forward',
        upstreams: upstreamsAt(provider.baseUrl, keyInFile(provider.key)),
      },
    });
    const options = { prompt: userPrompt('go'), tools: [shellTool] };
    const direct = await receive(clientOf(wire, provider), options);
    const forwarded = await receive(clientOf(wire, lane), options);

    expect(forwarded).toEqual(direct);
    expect(provider.ledger[1]?.request_hash).toBe(provider.ledger[0]?.request_hash);
    const [asked] = provider.ledger;
    expect(lane.ledger).toMatchObject([
      {
        status: 200,
        outcome: 'ok',
        usage: { ...usage, ...(asked?.usage?.cacheWriteTokens ? { cacheWriteTokens: 0 } : {}) },
        finish: 'tool-calls',
        tools_called: ['shell'],
        model_asked: asked?.model_asked,
        model_answered: asked?.model_asked,
        first_token_ms: expect.any(Number),
        flags: [],
      },
    ]);
  });
});

describe('the real key', () => {
  test('is only in the upstream header, even when the provider repeats it', async () => {
    await using provider = await startProvider((response, request) => {
      const echo = JSON.stringify(request.headers);
      response.writeHead(request.url.includes('bad') ? 400 : 200, {
        'content-type': 'application/json',
        'x-echo': echo,
        'set-cookie': `session=${realKey}`,
      });
      response.write(echo.slice(0, echo.indexOf(realKey) + 7));
      setImmediate(() => response.end(echo.slice(echo.indexOf(realKey) + 7)));
    });
    const ledgerFile = join(folder, 'ledger.jsonl');
    const lane = await forwardTo(provider.url, { ledgerFile, allowEndpoints: ['/bad'] });
    const seen: unknown[] = [lane.env];
    for (const path of ['/v1/responses', '/v1/messages', '/v1beta/models/m:generateContent', '/v1/bad']) {
      const response = await fetch(`${lane.baseUrl}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${lane.key}`,
          'x-api-key': lane.key,
          'x-goog-api-key': lane.key,
          'x-note': `key=${lane.key}`,
          cookie: 'a=b',
          'anthropic-beta': 'kept',
        },
        body: JSON.stringify({ model: 'm', input: 'go' }),
      });
      seen.push(await response.text(), [...response.headers]);
    }
    await lane.close();
    seen.push(lane.ledger, await readFile(ledgerFile, 'utf8'));
    expect(JSON.stringify(seen)).not.toContain(realKey);
    expect(JSON.stringify(seen)).toContain('*'.repeat(realKey.length));

    const keysSent = provider.requests.map(({ headers }) =>
      Object.entries(headers).flatMap(([name, value]) => (String(value).includes(realKey) ? [name] : [])),
    );
    expect(keysSent).toEqual([['authorization'], ['x-api-key'], ['x-goog-api-key'], ['x-api-key']]);
    expect(JSON.stringify(provider.requests)).not.toContain(lane.key);
    expect(provider.requests[0]?.headers).toMatchObject({ 'anthropic-beta': 'kept' });
    expect(provider.requests[0]?.headers).not.toHaveProperty('cookie');
  });

  test("gives an error without the provider's text when the provider refuses it", async () => {
    await using provider = await startProvider((response) =>
      sendJson(response, 401, { error: { message: 'Incorrect API key: sk-re…c2e' } }),
    );
    await using lane = await forwardTo(provider.url);
    const answer = await postJson(lane, '/v1/messages', { model: 'm', messages: [] });
    expect(answer).toMatchObject({ status: 401, body: { error: { type: 'authentication_error' } } });
    expect(JSON.stringify(answer.body)).not.toContain('sk-re');
  });

  test.each([
    [{ env: 'WHETSTONE_NO_SUCH_KEY' }, 'the variable is not set'],
    [{ file: '/no/such/file' }, 'ENOENT'],
    [{ command: `echo ${realKey}; exit 3` }, 'it ended with 3'],
    [{ command: 'true' }, 'it is empty'],
    [{ command: `printf '${realKey}\nsecond'` }, 'one word'],
  ])('gives a typed error that does not contain it when it cannot be read from %j', async (key, reason) => {
    const opened = gateway.open({
      owner: 'a',
      mode: { kind: 'forward', upstreams: { 'anthropic-messages': { key } } },
    });
    const error = await opened.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'key-unavailable', message: expect.stringContaining(reason) });
    if (!('command' in key)) return;
    expect(String(error).replace(key.command, '')).not.toContain(realKey);
  });

  test('is masked wherever chunks cut it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(realKey, realKey.slice(0, 9), 'sk-', 'a', '*'), { maxLength: 12 }),
        fc.array(fc.nat(20)),
        (texts, cuts) => {
          const bytes = Buffer.from(texts.join(''));
          const mask = maskKey(realKey);
          const out: Buffer[] = [];
          let at = 0;
          for (const cut of cuts) {
            out.push(mask.push(bytes.subarray(at, at + cut)));
            at += cut;
          }
          out.push(mask.push(bytes.subarray(at)), mask.end());
          const stars = '*'.repeat(realKey.length);
          expect(Buffer.concat(out).toString()).toBe(bytes.toString().replaceAll(realKey, stars));
        },
      ),
    );
  });
});

describe('a stream', () => {
  const chunk = (content: string) => ({ model: 'm-1', choices: [{ index: 0, delta: { content } }] });
  const streamed = { model: 'm', stream: true, stream_options: { include_usage: true }, messages: [] };

  const open = (lane: Lane, body: unknown, signal?: AbortSignal): Promise<Response> =>
    fetch(`${lane.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${lane.key}` },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });

  test('is passed on piece by piece: the head before the first word, and each word before the next one', async () => {
    const go = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using provider = await startProvider(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      await go[0]?.promise;
      response.write(sse(chunk('one')));
      await go[1]?.promise;
      response.end(sse(chunk('two'), '[DONE]'));
    });
    await using lane = await forwardTo(provider.url);
    const response = await open(lane, streamed);
    const reader = response.body?.getReader();
    go[0]?.resolve();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('one');
    go[1]?.resolve();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('two');
    await reader?.read();
  });

  test('is closed at the provider when the client leaves, and counted as far as possible', async () => {
    const gone = Promise.withResolvers<void>();
    await using provider = await startProvider(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse(chunk('one')));
      await once(response, 'close');
      gone.resolve();
    });
    const { onCall, line } = nextCall();
    await using lane = await forwardTo(provider.url, { onCall, budget: { tokens: 1 } });
    const client = new AbortController();
    const response = await open(lane, streamed, client.signal);
    await response.body?.getReader().read();
    client.abort();
    await gone.promise;
    expect(await line).toMatchObject({ outcome: 'client-closed', usage: null, flags: ['unmetered'] });
    const next = await open(lane, streamed);
    expect(next.status).toBe(400);
    await next.body?.cancel();
  });

  test('is cut off for the client when the provider cuts it off', async () => {
    await using provider = await startProvider((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse(chunk('one')), () => response.socket?.resetAndDestroy());
    });
    await using lane = await forwardTo(provider.url);
    const response = await open(lane, streamed);
    await expect(response.text()).rejects.toThrow();
    expect(lane.ledger).toMatchObject([{ status: 200, outcome: 'error', error: 'aborted' }]);
  });

  test('waits for a slow client instead of filling the memory', async () => {
    const total = 64 * 1024 * 1024;
    let written = 0;
    const stalled = Promise.withResolvers<void>();
    await using provider = await startProvider(async (response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      const block = Buffer.alloc(256 * 1024, 'x');
      while (written < total && !response.destroyed) {
        written += block.length;
        if (response.write(block)) continue;
        const drained = once(response, 'drain').then(() => true);
        const quiet = new Promise<false>((resolve) => setTimeout(() => resolve(false), 200));
        if (await Promise.race([drained, quiet])) continue;
        stalled.resolve();
        await drained.catch(() => {});
      }
      response.end();
    });
    await using lane = await forwardTo(provider.url);
    const response = await open(lane, streamed);
    await stalled.promise;
    expect(written).toBeLessThan(total / 2);
    expect((await response.arrayBuffer()).byteLength).toBe(total);
  });

  test('is metered when the client does not ask for usage, and the client does not get the usage', async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    await using provider = await startProvider((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(sse(chunk('one'), { model: 'm-1', choices: [], usage }, '[DONE]'));
    });
    await using lane = await forwardTo(provider.url);
    const response = await open(lane, { model: 'm', stream: true, messages: [] });
    expect(await response.text()).toBe(sse(chunk('one'), '[DONE]'));
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toMatchObject({
      stream_options: { include_usage: true },
    });
    expect(lane.ledger[0]?.usage).toEqual({ inputTokens: 7, outputTokens: 3 });
  });
});

describe('other answers:', () => {
  test('a compressed answer is decompressed and metered', async () => {
    const body = { model: 'm-1', usage: { input_tokens: 5, output_tokens: 2 }, type: 'message', content: [] };
    await using provider = await startProvider((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify(body)));
    });
    await using lane = await forwardTo(provider.url);
    const answer = await postJson(lane, '/v1/messages', { model: 'm', messages: [] });
    expect(answer.body).toEqual(body);
    expect(answer.headers.get('content-encoding')).toBeNull();
    expect(lane.ledger[0]).toMatchObject({
      model_answered: 'm-1',
      usage: { inputTokens: 5, outputTokens: 2 },
    });
  });

  test("a provider's error passes with the headers that the agent needs to retry, and retries are counted", async () => {
    let calls = 0;
    await using provider = await startProvider((response) => {
      calls += 1;
      if (calls < 3) sendJson(response, 529, { error: { message: 'Overloaded' } }, { 'retry-after': '0' });
      else sendJson(response, 200, { type: 'message', model: 'm-1', content: [], stop_reason: 'end_turn' });
    });
    await using lane = await forwardTo(provider.url);
    const request = { model: 'm', messages: [{ role: 'user', content: 'go' }] };
    const first = await postJson(lane, '/v1/messages', { ...request, stream: true });
    expect([first.status, first.headers.get('retry-after')]).toEqual([529, '0']);
    for (let again = 0; again < 3; again++) await postJson(lane, '/v1/messages', request);
    expect(lane.ledger.map(({ status, retries }) => [status, retries])).toEqual([
      [529, 0],
      [529, 1],
      [200, 2],
      [200, 0],
    ]);
    expect(lane.ledger[0]).toMatchObject({
      error: '{"error":{"message":"Overloaded"}}',
      usage: null,
      flags: [],
    });
  });

  test('allowed endpoints go to the probable provider', async () => {
    await using provider = await startProvider((response) => sendJson(response, 200, { ok: true }));
    await using lane = await forwardTo(`${provider.url}/base`, {
      allowEndpoints: ['/v1/embeddings', 'GET /cachedContents'],
    });
    await call(lane, '/v1/embeddings?x=1', { method: 'POST', body: '{}' });
    await call(lane, '/v1beta/cachedContents?key=secret&a=b');
    await call(lane, '/v1/models', { headers: { 'anthropic-version': '2023-06-01' } });
    expect(provider.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /base/v1/embeddings?x=1',
      'GET /base/v1beta/cachedContents?a=b',
      'GET /base/v1/models',
    ]);
    expect(lane.ledger.every((line) => line.flags.includes('auxiliary') && line.status === 200)).toBe(true);
  });

  test('an error of a provider is read up to a limit, compressed or not', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024, ' '), { level: 1 });
    let ended = 0;
    await using provider = await startProvider((response, { url }) => {
      response.once('close', () => ended++);
      const plain = url.includes('embeddings');
      response.writeHead(529, { 'retry-after': '0', ...(plain ? {} : { 'content-encoding': 'gzip' }) });
      if (!plain) return void response.end(bomb);
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
      };
      response.on('drain', more);
      more();
    });
    await using lane = await forwardTo(provider.url, { allowEndpoints: ['/embeddings'] });
    const message = 'The provider answered with status 529 and more than 1048576 bytes, which are not read.';
    for (const path of ['/v1/responses', '/v1/messages', '/v1/embeddings']) {
      const answer = await postJson(lane, path, { model: 'm' });
      expect(answer).toMatchObject({ status: 529, body: { error: { message } } });
      expect(answer.headers.get('retry-after')).toBe('0');
    }
    await expect.poll(() => ended).toBe(3);
    for (const line of lane.ledger) expect(line).toMatchObject({ status: 529, error: message });
    expect(lane.ledger.every(({ flags }) => flags.includes('too-large'))).toBe(true);
  });

  test('an event that is too large ends its call with an error that says so', async () => {
    const mebi = 'x'.repeat(1024 * 1024);
    await using provider = await startProvider(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: {"a":1}\n\ndata: "`);
      while (!response.destroyed) if (!response.write(mebi)) await new Promise(setImmediate);
    });
    const { onCall, line } = nextCall();
    await using lane = await forwardTo(provider.url, { onCall });
    await expect(postJson(lane, '/v1/responses', { model: 'm', stream: true })).rejects.toThrow();
    expect(await line).toMatchObject({
      outcome: 'error',
      error: 'The provider sent an event of more than 16777216 characters.',
      usage: null,
      flags: expect.arrayContaining(['too-large', 'unmetered']),
    });
  });

  test('a redirect is not followed', async () => {
    await using provider = await startProvider((response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end();
    });
    await using lane = await forwardTo(provider.url);
    expect((await postJson(lane, '/v1/messages', { model: 'm' })).status).toBe(502);
  });

  test('a wire without a provider gets 404, and a provider that cannot be reached gives 502', async () => {
    await using provider = await startProvider((response) => sendJson(response, 200, {}));
    await using lane = await gateway.open({
      owner: 'a',
      mode: {
        kind: 'forward',
        upstreams: { 'anthropic-messages': { baseUrl: provider.url, key: { file: keyFile } } },
      },
    });
    expect(await postJson(lane, '/v1/responses', { model: 'm' })).toMatchObject({ status: 404 });
    await provider.close();
    expect(await postJson(lane, '/v1/messages', { model: 'm' })).toMatchObject({
      status: 502,
      body: { error: { message: expect.stringContaining('cannot be reached') } },
    });
  });

  test('a call to a provider that stays silent ends with 504', async () => {
    await using provider = await startProvider(() => {});
    const upstreams = upstreamsAt(provider.url, { file: keyFile });
    await using lane = await gateway.open({
      owner: 'a',
      mode: { kind: 'forward', upstreams, idleTimeoutMs: 50 },
    });
    expect((await postJson(lane, '/v1/messages', { model: 'm' })).status).toBe(504);
  });
});
