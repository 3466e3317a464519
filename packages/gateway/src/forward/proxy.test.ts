import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { postJson } from '../__fixtures__/clients.ts';
import { keyInFile, type Provider, sendJson, startProvider, upstreamsAt } from '../__fixtures__/provider.ts';
import { createGateway, type Gateway, type Lane } from '../index.ts';

const realKey = 'sk-real-canary-77aa';
const answer = { type: 'message', content: [], usage: { input_tokens: 3, output_tokens: 4 } };

let gateway: Gateway;
let provider: Provider;
beforeAll(async () => {
  gateway = await createGateway();
  provider = await startProvider((response) => sendJson(response, 200, answer));
});
afterEach(() => vi.unstubAllEnvs());
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

/** A proxy that connects every host to `port`, and keeps the requests. */
async function startProxy(port: number) {
  const asked: { line: string; sawKey: boolean }[] = [];
  const server = createHttpServer((request, response) => {
    asked.push({
      line: `${request.method} ${request.url}`,
      sawKey: JSON.stringify(request.headers).includes(realKey),
    });
    const { pathname } = new URL(request.url ?? '');
    const onward = httpRequest(
      { port, host: '127.0.0.1', path: pathname, method: request.method, headers: request.headers },
      (answered) => {
        response.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(response);
      },
    );
    request.pipe(onward);
  });
  server.on('connect', (request, client, head) => {
    asked.push({
      line: `CONNECT ${request.url}`,
      sawKey: JSON.stringify(request.headers).includes(realKey),
    });
    const onward = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      client.pipe(onward).pipe(client);
    });
    onward.on('error', () => client.destroy());
    client.on('error', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: ownPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${ownPort}`,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const laneTo = (url: string): Promise<Lane> =>
  gateway.open({
    owner: 'a',
    mode: { kind: 'forward', upstreams: upstreamsAt(url, keyInFile(realKey)) },
  });

const portOf = ({ url }: { url: string }): number => Number(new URL(url).port);

test('a provider over http is reached through HTTP_PROXY', async () => {
  await using proxy = await startProxy(portOf(provider));
  vi.stubEnv('HTTP_PROXY', proxy.url);
  await using lane = await laneTo('http://provider.test:81');
  expect(await postJson(lane, '/v1/messages', { model: 'm' })).toMatchObject({ status: 200, body: answer });
  expect(proxy.asked).toMatchObject([{ line: 'POST http://provider.test:81/v1/messages' }]);
  expect(lane.ledger).toMatchObject([{ usage: { inputTokens: 3, outputTokens: 4 } }]);
});

test('hosts in NO_PROXY and on this machine are reached without a proxy', async () => {
  await using proxy = await startProxy(portOf(provider));
  vi.stubEnv('HTTP_PROXY', proxy.url);
  vi.stubEnv('NO_PROXY', 'other.test, .internal');
  await using local = await laneTo(provider.url);
  expect((await postJson(local, '/v1/messages', { model: 'm' })).status).toBe(200);
  await using excepted = await laneTo('http://provider.internal:81');
  expect((await postJson(excepted, '/v1/messages', { model: 'm' })).status).toBe(502);
  expect(proxy.asked).toEqual([]);
});

test('a proxy that cannot be reached is an error answer that says so', async () => {
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:9');
  await using lane = await laneTo('http://provider.test');
  expect(await postJson(lane, '/v1/messages', { model: 'm' })).toMatchObject({
    status: 502,
    body: { error: { message: expect.stringContaining('cannot be reached') } },
  });
});

const openssl = 'openssl';
const hasOpenssl = ((): boolean => {
  try {
    execFileSync(openssl, ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!hasOpenssl)(
  'HTTPS_PROXY gets a tunnel to a provider over https, and sees no key',
  { tags: 'openssl' },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-proxy-'));
    const trusted = getCACertificates('default');
    try {
      const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
      execFileSync(
        openssl,
        // biome-ignore format: a command line
        ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
        '-subj', '/CN=provider.test', '-addext', 'subjectAltName=DNS:provider.test', '-keyout', keyFile, '-out', certificateFile],
        { stdio: 'ignore' },
      );
      const certificate = await readFile(certificateFile, 'utf8');
      setDefaultCACertificates([...trusted, certificate]);
      const keys: unknown[] = [];
      const secure = createHttpsServer(
        { key: await readFile(keyFile), cert: certificate },
        (request, response) => {
          keys.push(request.headers['x-api-key']);
          request.resume();
          sendJson(response, 200, answer);
        },
      );
      secure.listen(0, '127.0.0.1');
      await once(secure, 'listening');
      try {
        await using proxy = await startProxy((secure.address() as AddressInfo).port);
        vi.stubEnv('https_proxy', proxy.url);
        await using lane = await laneTo('https://provider.test');
        for (const _ of [1, 2]) {
          expect(await postJson(lane, '/v1/messages', { model: 'm' })).toMatchObject({
            status: 200,
            body: answer,
          });
        }
        // One tunnel, which is used again for the second call.
        expect(proxy.asked).toEqual([{ line: 'CONNECT provider.test:443', sawKey: false }]);
        expect(keys).toEqual([realKey, realKey]);
      } finally {
        secure.close();
        secure.closeAllConnections();
      }
    } finally {
      setDefaultCACertificates(trusted);
      await rm(folder, { recursive: true });
    }
  },
);
