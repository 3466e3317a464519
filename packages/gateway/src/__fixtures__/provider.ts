import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeySource, Upstreams } from '../index.ts';

/** The base URL for a client of each wire, with a provider at `url`. */
export const upstreamsAt = (url: string, key: KeySource): Required<Upstreams> => ({
  'openai-responses': { baseUrl: `${url}/v1`, key },
  'openai-chat-completions': { baseUrl: `${url}/v1`, key },
  'anthropic-messages': { baseUrl: url, key },
  'gemini-generate-content': { baseUrl: url, key },
});

let keys: string | undefined;

/** Where a gateway reads this key without starting a program. The file is removed when the process ends. */
export function keyInFile(key: string): KeySource {
  const folder = keys ?? mkdtempSync(join(tmpdir(), 'keys-'));
  if (keys === undefined) process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  keys = folder;
  const file = join(folder, key);
  writeFileSync(file, key);
  return { file };
}

export type ProviderRequest = {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
};

/** A provider that answers as the test says, and keeps the requests. */
export type Provider = {
  url: string;
  requests: ProviderRequest[];
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function startProvider(
  respond: (response: ServerResponse, request: ProviderRequest) => void | Promise<void>,
): Promise<Provider> {
  const requests: ProviderRequest[] = [];
  const server = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const request = {
      method: message.method ?? '',
      url: message.url ?? '',
      headers: message.headers,
      body: Buffer.concat(chunks).toString(),
    };
    requests.push(request);
    await respond(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, close, [Symbol.asyncDispose]: close };
}

export const sendJson = (response: ServerResponse, status: number, body: unknown, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

/** Server-sent events with these data. */
export const sse = (...data: unknown[]): string =>
  data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('');
