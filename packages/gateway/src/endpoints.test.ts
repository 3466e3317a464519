import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, postJson } from './__fixtures__/clients.ts';
import { keyInFile, type Provider, sendJson, startProvider, upstreamsAt } from './__fixtures__/provider.ts';
import { createGateway, type Gateway, type Lane, type LaneMode, type LaneOptions } from './index.ts';

let gateway: Gateway;
let provider: Provider;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-endpoints-'));
  await writeFile(join(folder, 'empty.jsonl'), '');
  gateway = await createGateway();
  provider = await startProvider((response) => sendJson(response, 200, { data: [] }));
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
  await rm(folder, { recursive: true });
});

let recordings = 0;
const modes: Record<string, () => LaneMode> = {
  forward: () => ({ kind: 'forward', upstreams: upstreams() }),
  record: () => ({ kind: 'record', upstreams: upstreams(), cassette: join(folder, `${recordings++}.jsonl`) }),
  replay: () => ({ kind: 'replay', cassette: join(folder, 'empty.jsonl') }),
  script: () => ({ kind: 'script', script: { name: 's', play: () => ({ text: 'ok' }) } }),
};
const upstreams = () => upstreamsAt(provider.url, keyInFile('key'));

const open = (mode = 'forward', options: Partial<LaneOptions> = {}): Promise<Lane> =>
  gateway.open({ owner: 'a', mode: (modes[mode] ?? expect.unreachable())(), ...options });

/** By hand, because fetch would normalise the path. */
async function raw(lane: Lane, path: string, method = 'POST', headers = {}): Promise<number> {
  const request = httpRequest(lane.baseUrl, {
    path: `${new URL(lane.baseUrl).pathname}${path}`,
    ...{ method, headers: { 'x-api-key': lane.key, ...headers } },
  });
  const [response] = await once(method === 'GET' ? request.end() : request.end('{}'), 'response');
  response.resume();
  return response.statusCode;
}

const openai = { error: { type: 'permission_error', message: expect.stringContaining('does not serve') } };
const anthropic = { type: 'error', ...openai };
const google = { error: { code: 403, status: 'PERMISSION_DENIED', message: expect.any(String) } };

const others: [method: string, path: string, body: object][] = [
  ...['/v1/files', '/v1/batches', '/v1/organization/admin_api_keys', '/v1/fine_tuning/jobs'].flatMap(
    (path): [string, string, object][] => [
      ['GET', path, openai],
      ['POST', path, openai],
    ],
  ),
  ...[
    '/v1/assistants',
    '/v1/threads/runs',
    '/v1/vector_stores',
    '/v1/containers',
    '/v1/embeddings',
    '/v1/images/generations',
    '/v1/audio/speech',
    '/v1/completions',
    '/v1/responses/compact',
    '/v1/chat/completions/x',
    '/unknown',
  ].map((path): [string, string, object] => ['POST', path, openai]),
  ['GET', '/v1/responses/resp_1', openai],
  ['GET', '/v1/responses', openai],
  ['GET', '/', openai],
  ['DELETE', '/v1/models/m', openai],
  ['POST', '/v1/messages/batches', anthropic],
  ['POST', '/v1beta/models/m:embedContent', google],
  ['POST', '/v1beta/models/m:batchGenerateContent', google],
  ['GET', '/v1beta/cachedContents', google],
  ['POST', '/v1beta/files', google],
  ['GET', '/v1beta/tunedModels', google],
  ['POST', '/mcp', openai],
];

const tricks = [
  '/v1/responses%2f..%2ffiles',
  '/v1/models/..%2ffiles',
  '/v1/models/%2e%2e/files',
  '/v1/models/../files',
  '/v1/./files',
  '/v1/responses/..;/files',
  '/v1//responses',
  '//v1/responses',
  '/v1/responses//',
  '/V1/Responses',
  '/v1/Responses',
  '/v1/files?/v1/responses',
  '/v1/files#/v1/responses',
  '/v1/files;/v1/responses',
  '/v1/models/x:y/z:generateContent',
  '/v1beta/files/models/m:generateContent',
  '/v1/m%6fdels/m:generateContent',
  '/v1/models/m%3AgenerateContent',
  '/v1\\responses',
  '/v1/v1/responses',
  '/v1beta/v1/files',
];

describe('a lane serves model calls, token counts and lists of models, and', () => {
  test.each(Object.keys(modes))('with %s refuses all else, before the provider sees it', async (mode) => {
    await using lane = await open(mode);
    const before = provider.requests.length;
    // What is refused does not depend on the mode, so one of them gets all.
    const [paths, spellings] =
      mode === 'forward' ? [others, tricks] : [others.slice(0, 9), tricks.slice(0, 4)];
    for (const [method, path, body] of paths) {
      const headers = path.includes('messages') ? { 'anthropic-version': '1' } : {};
      const init = { method, headers, ...(method === 'POST' && { body: '{}' }) };
      expect(await call(lane, path, init), `${method} ${path}`).toMatchObject({ status: 403, body });
    }
    for (const path of spellings) expect([path, await raw(lane, path)]).toEqual([path, 403]);
    expect(provider.requests.length).toBe(before);
    expect(lane.ledger).toHaveLength(paths.length + spellings.length);
    for (const line of lane.ledger) {
      expect(line).toMatchObject({ status: 403, outcome: 'error', flags: ['auxiliary', 'endpoint-refused'] });
    }
    expect(lane.ledger[0]?.error).toMatch(
      /GET \/v1\/files.*--allow-endpoint "GET \/files".*allow_endpoints: \["GET \/files"\].*allowEndpoints of a lane/,
    );
  });

  test('forwards what is known', async () => {
    await using lane = await open();
    const known = [
      ...[
        '/v1/responses',
        '/responses/',
        '/v1/chat/completions',
        '/v1/messages',
        '/v1/messages/count_tokens',
      ],
      ...['/v1/responses/input_tokens', '/v1beta/models/m:generateContent', '/v1beta/models/m:countTokens'],
      '/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse',
    ];
    for (const path of known) expect([path, (await postJson(lane, path, {})).status]).toEqual([path, 200]);
    for (const path of ['/v1/models', '/v1/models/gpt-5', '/v1beta/models/gemini-2.5-pro']) {
      expect([path, (await call(lane, path)).status]).toEqual([path, 200]);
    }
    expect(lane.ledger.filter(({ flags }) => flags.includes('endpoint-refused'))).toEqual([]);
  });

  test('forwards what it allows, by path or by method and path, and says that it is not metered', async () => {
    await using lane = await open('forward', { allowEndpoints: ['/v1/embeddings', 'GET /files/*'] });
    expect(await postJson(lane, '/v1/embeddings', {})).toMatchObject({ status: 200 });
    expect(await call(lane, '/v1/files/one/content')).toMatchObject({ status: 200 });
    expect(await postJson(lane, '/v1/files/one', {})).toMatchObject({ status: 403 });
    expect(await call(lane, '/v1/files')).toMatchObject({ status: 403 });
    expect(await raw(lane, '/v1/files/../organization/x', 'GET')).toBe(403);
    expect(lane.ledger.map(({ flags }) => flags[1])).toEqual([
      'unmetered',
      undefined,
      ...['endpoint-refused', 'endpoint-refused', 'endpoint-refused'],
    ]);
  });

  test('sends no header that would make another method of the one that was checked', async () => {
    await using lane = await open();
    await raw(lane, '/v1beta/models/m', 'GET', { 'x-http-method-override': 'DELETE' });
    expect(provider.requests.at(-1)).toMatchObject({ method: 'GET' });
    expect(provider.requests.at(-1)?.headers).not.toHaveProperty('x-http-method-override');
  });

  test("forwards GitHub's tools only where the provider's tools of MCP are allowed", async () => {
    await using lane = await open('forward', { allowProviderTools: ['mcp'] });
    expect(await postJson(lane, '/mcp/readonly', {})).toMatchObject({ status: 200 });
    expect(lane.ledger).toMatchObject([{ flags: ['auxiliary'] }]);
    await using strict = await open();
    expect(await postJson(strict, '/mcp/readonly', {})).toMatchObject({ status: 403 });
    expect(strict.ledger).toMatchObject([{ stripped_tools: ['mcp'] }]);
  });

  test.each(['embeddings', 'POST', '/a b', '/files/**', 'post /files', '/%2e'])(
    'an endpoint that no request could have is an error: %j',
    async (rule) => {
      await expect(open('script', { allowEndpoints: [rule] })).rejects.toMatchObject({
        code: 'endpoint-invalid',
      });
    },
  );
});
