import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type HostProxy, openHostProxy } from './host-proxy.ts';
import { type HostRule, readHostRule } from './host-rule.ts';

const rules = (...texts: string[]) => texts.map((text) => readHostRule(text) as HostRule);
const closing: (() => void)[] = [];
beforeEach(() => {
  for (const name of ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'])
    for (const one of [name, name.toUpperCase()]) vi.stubEnv(one, '');
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0)) close();
});

/** A door for the proxy: connections to the port are handed to it. */
async function doorTo(proxy: HostProxy): Promise<number> {
  const server = createTcpServer((socket) => proxy.accept(socket)).listen(0, '127.0.0.1');
  closing.push(
    () => server.close(),
    () => proxy.close(),
  );
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function get(port: number, path: string, headers = {}): Promise<{ status?: number; body: string }> {
  const [response] = await once(request({ port, host: '127.0.0.1', path, headers }).end(), 'response');
  let body = '';
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, body };
}

async function tunnel(port: number, target: string): Promise<{ status?: number; socket: Socket }> {
  const asked = request({ port, host: '127.0.0.1', method: 'CONNECT', path: target }).end();
  const [response, socket] = await Promise.race([once(asked, 'connect'), once(asked, 'response')]);
  closing.push(() => (socket ?? response.socket)?.destroy());
  return { status: response.statusCode, socket };
}

test('a proxy forwards to what is listed as it was checked, and notes each request', async () => {
  const seen: (string | undefined)[] = [];
  const behind = createServer((received, response) => {
    seen.push(received.headers.host);
    response.end('hello');
  }).listen(0, '127.0.0.1');
  await once(behind, 'listening');
  const { port: upstream } = behind.address() as AddressInfo;
  closing.push(() => behind.close());
  // The proxy of a company: what is listed is handed to it by name.
  vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${upstream}`);
  const port = await doorTo(await openHostProxy(rules('a.example')));
  expect(await get(port, 'http://a.example/x', { host: 'evil.example' })).toEqual({
    status: 200,
    body: 'hello',
  });
  expect(seen).toEqual(['a.example']);
});

test('a tunnel goes through the proxy of a company with its password, and NO_PROXY goes past it', async () => {
  const asked: (string | undefined)[][] = [];
  const company = createServer();
  company.on('connect', ({ url, headers }, socket) => {
    asked.push([url, headers['proxy-authorization']]);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(socket);
  });
  company.listen(0, '127.0.0.1');
  await once(company, 'listening');
  closing.push(() => company.close());
  vi.stubEnv('HTTPS_PROXY', `http://me:pw@127.0.0.1:${(company.address() as AddressInfo).port}`);
  vi.stubEnv('NO_PROXY', 'b.example');
  const proxy = await openHostProxy(rules('a.example', 'b.example'), { lookUp: async () => [] });
  const port = await doorTo(proxy);
  const { status, socket } = await tunnel(port, 'a.example:443');
  expect(status).toBe(200);
  socket.write('through');
  expect(String((await once(socket, 'data'))[0])).toBe('through');
  expect(asked).toEqual([['a.example:443', `Basic ${btoa('me:pw')}`]]);
  expect((await tunnel(port, 'b.example:443')).status).toBe(403);
  expect(proxy.requests).toEqual([
    { host: 'a.example', port: 443, count: 1 },
    { host: 'b.example', port: 443, count: 1, refused: 'it has no address' },
  ]);
});

test('a name is looked up once for a connection, and connects to the address that was checked', async () => {
  const answers = ['192.0.2.77', '127.0.0.1', '10.0.0.9', '169.254.169.254'];
  const looked: string[] = [];
  const lookUp = async (host: string) => {
    looked.push(host);
    return [{ address: answers[looked.length - 1] ?? '127.0.0.1', family: 4 }];
  };
  const proxy = await openHostProxy(rules('a.example', '*.b.example'), { lookUp, by: 'setup' });
  const port = await doorTo(proxy);
  for (const target of ['a.example:443', 'a.example:443', 'x.b.example:443', 'a.example:80'])
    expect((await tunnel(port, target)).status).toBe(403);
  expect(looked).toEqual(['a.example', 'a.example', 'x.b.example', 'a.example']);
  expect(proxy.requests.map(({ host, refused, by }) => [host, refused, by])).toEqual([
    ['a.example', 'it is not of the internet (reserved)', 'setup'],
    ['a.example', 'it is this machine', 'setup'],
    ['x.b.example', 'it is in a private network, for which its name has to be listed in full', 'setup'],
    ['a.example', 'it is not of the internet (linkLocal)', 'setup'],
  ]);
});

test('a request and a tunnel connect to the checked address of a name that nobody else knows', async () => {
  const behind = createServer((_, response) => response.end('direct')).listen(0, '127.0.0.1');
  await once(behind, 'listening');
  closing.push(() => behind.close());
  const { port: place } = behind.address() as AddressInfo;
  const lookUp = async () => [{ address: '127.0.0.1', family: 4 }];
  const proxy = await openHostProxy(rules(`a.example:${place}`), { lookUp, check: () => undefined });
  const port = await doorTo(proxy);
  expect(await get(port, `http://a.example:${place}/`)).toEqual({ status: 200, body: 'direct' });
  const { status, socket } = await tunnel(port, `a.example:${place}`);
  expect(status).toBe(200);
  socket.write('GET / HTTP/1.0\r\n\r\n');
  expect(String((await once(socket, 'data'))[0])).toContain('200 OK');
  expect(proxy.requests).toEqual([{ host: 'a.example', port: place, count: 2 }]);
});

test('what is not listed is refused without a look-up, in both ways, and forms of addresses are no names', async () => {
  const lookUp = vi.fn(async () => []);
  const proxy = await openHostProxy(rules('a.example'), { lookUp });
  const port = await doorTo(proxy);
  const { status, body } = await get(port, 'http://b.example/');
  expect(status).toBe(403);
  expect(body).toBe(
    'b.example:80 cannot be reached from this sandbox: it is not listed in `sandbox.hosts`.\n',
  );
  for (const target of [
    '127.0.0.1:80',
    '[::1]:80',
    '2130706433:80',
    'a.example:22',
    'a.example@b.example:443',
  ])
    expect((await tunnel(port, target)).status).toBe(403);
  expect((await get(port, '/')).status).toBe(400);
  expect(lookUp).not.toHaveBeenCalled();
  expect(proxy.requests.map(({ host }) => host)).toEqual([
    ...['b.example', '127.0.0.1', '[::1]', '2130706433', 'a.example', 'b.example'],
  ]);
  for (let number = 0; number < 250; number += 1) await tunnel(port, `n${number}.example:443`);
  expect(proxy.requests).toHaveLength(200);
});
