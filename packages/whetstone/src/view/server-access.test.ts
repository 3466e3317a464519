import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cookieFrom, send } from './__fixtures__/http.ts';
import { serveRuns, type ViewServer } from './server.ts';

let outputDirectory: string;
let server: ViewServer;
let cookie: string;

beforeAll(async () => {
  outputDirectory = await mkdtemp(join(tmpdir(), 'view-access-'));
  server = await serveRuns({ outputDirectory });
  cookie = await cookieFrom(server.url);
});
afterAll(async () => {
  await server.close();
  await rm(outputDirectory, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  send(server.url, path, { headers: { cookie, ...headers } });

describe('who may read', () => {
  test('the printed URL sets a cookie that scripts and other sites do not get, and leaves the address', async () => {
    const { status, headers } = await send(server.url, `/${new URL(server.url).search}`);
    expect({ status, location: headers.location }).toEqual({
      status: 303,
      location: expect.stringMatching(/^\/\?key=[\w-]{43}$/),
    });
    expect(headers['set-cookie']?.[0]).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
    expect(headers['set-cookie']?.[0]).not.toContain(new URL(server.url).searchParams.get('token'));
  });

  test.each(['/', '/view.js', '/api/runs', '/nothing'])('without the cookie %s is refused', async (path) => {
    expect((await send(server.url, path)).status).toBe(403);
    expect((await get(path, { cookie: cookie.replace(/=.*/, '=guessed') })).status).toBe(403);
    expect((await get(path, { cookie: `other=1; ${cookie}` })).status).not.toBe(403);
  });

  test('a wrong token opens nothing, even with a valid cookie', async () => {
    expect((await send(server.url, '/?token=guessed')).status).toBe(403);
    expect((await get('/?token=guessed')).status).toBe(403);
    expect((await send(server.url, '/?token=')).status).toBe(403);
  });

  test('a one-time URL opens the page once, the printed URL any number of times', async () => {
    const once = server.createOneTimeUrl();
    expect(await cookieFrom(once)).toBe(cookie);
    expect(await cookieFrom(once)).toBe('');
    expect(await cookieFrom(server.url)).toBe(cookie);
  });

  test.each(['evil.example', 'evil.example:PORT', '127.0.0.1', '127.0.0.1:1', '127.0.0.1.evil.example:PORT'])(
    'the Host %j is refused, because a foreign name may lead here',
    async (host) => {
      const { port } = new URL(server.url);
      expect((await get('/api/runs', { host: host.replace('PORT', port) })).status).toBe(421);
    },
  );

  test.each(['localhost:PORT', '127.0.0.1:PORT', '[::1]:PORT'])('the Host %s is answered', async (host) => {
    const { port } = new URL(server.url);
    expect((await get('/api/runs', { host: host.replace('PORT', port) })).status).toBe(200);
  });

  test.each([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' }, // another port of this machine
  ])('another site is refused: %o', async (headers) => {
    expect((await get('/api/runs', headers as Record<string, string>)).status).toBe(403);
  });

  test('our own page and the address bar are answered', async () => {
    const { origin } = new URL(server.url);
    expect((await get('/api/runs', { origin, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await get('/', { 'sec-fetch-site': 'none' })).status).toBe(200);
  });

  test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is refused', async (method) => {
    const { status, headers } = await send(server.url, '/api/runs', { method, headers: { cookie } });
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD, POST' });
  });

  test('HEAD is GET without the body', async () => {
    const { status, headers, body } = await send(server.url, '/', { method: 'HEAD', headers: { cookie } });
    expect({ status, body }).toEqual({ status: 200, body: '' });
    expect(headers['content-length']).toBe((await get('/')).headers['content-length']);
  });

  test('only loopback is served', async () => {
    await expect(serveRuns({ outputDirectory, host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'view-host-invalid',
      exitCode: 2,
    });
  });

  test('a port that is in use is an error', async () => {
    const port = Number(new URL(server.url).port);
    await expect(serveRuns({ outputDirectory, port })).rejects.toMatchObject({
      code: 'view-port-unavailable',
      exitCode: 2,
    });
  });
});

test.each(['/', '/api/runs', '/nothing', '/api/nothing', '/?token=guessed'])(
  'the answer to %s lets nothing but our own files run, and is framed, sniffed and stored by no one',
  async (path) => {
    const { headers } = await get(path);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self';.*frame-ancestors 'none'/,
    );
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  },
);
