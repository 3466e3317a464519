import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type ProviderRequest, sse, startProvider, upstreamsAt } from '../__fixtures__/provider.ts';
import { createGateway, type Gateway, type LaneMode } from '../index.ts';

const canary = 'sk-canary-5d1b94c7e2a04f6c';

/** Ways in which a provider repeats the key that it got; `text` is an error or an answer that contains it. */
const echoes: Record<string, (response: ServerResponse, text: string) => void> = {
  whole: (response, text) => json(response, 200, text),
  ...Object.fromEntries(
    [400, 401, 403, 404, 429, 500, 529].map((status) => [
      `error-${status}`,
      (response: ServerResponse, text: string) => json(response, status, text),
    ]),
  ),
  streamed(response, text) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // Cut in the middle of the key.
    const bytes = sse({ type: 'content_block_delta', delta: { type: 'text_delta', text } });
    response.write(bytes.slice(0, bytes.indexOf(canary) + 9));
    setImmediate(() => response.end(bytes.slice(bytes.indexOf(canary) + 9)));
  },
  'cut-off'(response, text) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse(text), () => response.socket?.resetAndDestroy());
  },
  ...Object.fromEntries(
    Object.entries({
      gzip: gzipSync,
      deflate: deflateSync,
      br: brotliCompressSync,
      zstd: zstdCompressSync,
    }).map(([encoding, compress]) => [
      encoding,
      (response: ServerResponse, text: string) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding });
        response.end(compress(sse(text)));
      },
    ]),
  ),
  redirect(response, text) {
    response.writeHead(302, { location: `https://elsewhere.test/?key=${canary}`, 'x-note': text }).end(text);
  },
  headers(response) {
    response.writeHead(200, `OK ${canary}`, {
      'content-type': 'application/json',
      'set-cookie': [`a=${canary}`, 'b=c'],
      'x-request-id': canary,
      'www-authenticate': [`Bearer ${canary}`, 'Basic'],
    });
    response.end('{}');
  },
  trailers(response) {
    response.writeHead(200, { 'content-type': 'application/json', trailer: 'x-key' });
    response.write('{}');
    response.addTrailers({ 'x-key': canary });
    response.end();
  },
};

const json = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0', 'x-echo': text });
  response.end(JSON.stringify({ error: { message: text } }));
};

/** Where the provider's key was in the requests that the provider got. */
const placesOf = ({ url, headers, body }: ProviderRequest): string[] =>
  Object.entries({ url, body, ...headers }).flatMap(([name, value]) =>
    String(value).includes(canary) ? [name] : [],
  );

let gateway: Gateway;
let folder: string;
let keyFile: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-canary-'));
  keyFile = join(folder, 'key');
  await writeFile(keyFile, canary);
  gateway = await createGateway();
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

const logged: string[] = [];
beforeEach(() => {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (text: string | Uint8Array) => boolean;
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      logged.push(text.toString());
      return write(text);
    });
  }
});
afterEach(() => vi.restoreAllMocks());

/** All text of a response that a client can see. */
async function seenBy(response: Response): Promise<string> {
  const body = await response.text().catch((error: Error) => `${error} ${error.cause}`);
  return JSON.stringify([response.status, response.statusText, response.url, [...response.headers], body]);
}

const modes: Record<string, (upstreams: ReturnType<typeof upstreamsAt>) => LaneMode | Promise<LaneMode>> = {
  forward: (upstreams) => ({ kind: 'forward', upstreams }),
  record: (upstreams) => ({ kind: 'record', upstreams, cassette: join(folder, 'recorded.jsonl') }),
  async fork(upstreams) {
    const cassette = join(folder, 'empty.jsonl');
    await writeFile(cassette, '');
    return { kind: 'replay', cassette, miss: 'fork', upstreams };
  },
};

test.each(Object.entries(modes))(
  'with %s, the real key is only in the header of upstream requests',
  async (name, mode) => {
    await using provider = await startProvider((response, { headers }) => {
      const { authorization, 'x-api-key': apiKey, 'x-goog-api-key': googleKey } = headers;
      const echo = echoes[String(headers['x-echo-as'])] ?? expect.unreachable();
      echo(response, `The key "${String(authorization ?? apiKey ?? googleKey)}" is wrong.`);
    });
    const ledgerFile = join(folder, `${name}.ledger.jsonl`);
    const seen: unknown[] = [];
    const lane = await gateway.open({
      owner: 'a',
      mode: await mode(upstreamsAt(provider.url, { file: keyFile })),
      ledgerFile,
      allowEndpoints: ['/v1/embeddings'],
      onCall: (line) => seen.push(line),
      onRequest: ({ headers, body }) => seen.push(headers, Buffer.from(body).toString()),
    });
    const paths = [
      '/v1/responses',
      '/v1/chat/completions',
      '/v1/messages',
      '/v1beta/models/m:generateContent',
      '/v1/embeddings',
    ];
    for (const echo of Object.keys(echoes)) {
      for (const path of paths) {
        const response = await fetch(`${lane.baseUrl}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${lane.key}`, 'x-echo-as': echo },
          body: JSON.stringify({ model: 'm', stream: true, input: `${echo} ${path}` }),
          redirect: 'manual',
        }).catch((error: Error) => error);
        seen.push(response instanceof Response ? await seenBy(response) : `${response} ${response.cause}`);
      }
    }
    await lane.close();

    const calls = Object.keys(echoes).length * paths.length;
    expect(lane.ledger).toHaveLength(calls);
    // Proof that the search would find the key: it finds the stars that replace it.
    expect(JSON.stringify(seen)).toContain('*'.repeat(canary.length));
    expect(JSON.stringify([seen, lane, process.env, process.argv, logged])).not.toContain(canary);
    const files = (await readdir(folder)).filter((file) => file !== 'key');
    expect(files).toContain(`${name}.ledger.jsonl`);
    for (const file of files) expect(await readFile(join(folder, file), 'utf8')).not.toContain(canary);
    if (name === 'record') expect(files).toContain('recorded.jsonl');

    expect(provider.requests).toHaveLength(calls);
    const places = new Set(provider.requests.map((request) => placesOf(request).join(' ')));
    expect(places).toEqual(new Set(['authorization', 'x-api-key', 'x-goog-api-key']));
    expect(JSON.stringify(provider.requests)).not.toContain(lane.key);
  },
);
