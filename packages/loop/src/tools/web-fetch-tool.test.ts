import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createMemoryEnvironment } from '../__fixtures__/memory-environment.ts';
import { createWebFetchTool, htmlToText, isPublicAddress } from './web-fetch-tool.ts';

const context = {
  environment: createMemoryEnvironment(),
  signal: new AbortController().signal,
  callId: 'c',
  sessionId: 's',
  onUpdate: () => {},
  limits: { defaultCommandTimeoutMs: undefined, maxCommandTimeoutMs: 1_000 },
};

async function startPages(
  pages: Record<string, { status?: number; headers: Record<string, string>; body?: string }>,
) {
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    response.writeHead(page ? (page.status ?? 200) : 404, page?.headers ?? { 'content-type': 'text/plain' });
    response.end(page?.body ?? 'nothing here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    base: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('reads pages as text, follows redirects, and reports each failure', async () => {
  await using pages = await startPages({
    '/a': { headers: { 'content-type': 'text/html' }, body: '<h1>Hi</h1><script>no()</script><p>a &amp; b' },
    '/moved': { status: 302, headers: { location: '/a' } },
    '/round': { status: 302, headers: { location: '/round' } },
    '/data': { headers: { 'content-type': 'application/octet-stream' }, body: 'x' },
  });
  const tool = createWebFetchTool('prompt', { isAllowed: () => true });
  const fetchAll = async (...paths: string[]) => {
    const prompt = paths.map((path) => `Look at ${pages.base}${path}`).join(' and ');
    const output = await tool.executor({ prompt }, context);
    return typeof output === 'string' ? { content: output } : output;
  };
  const both = await fetchAll('/moved', '/missing');
  expect(both.isError).toBe(false);
  expect(both.content).toBe(
    `--- ${pages.base}/moved ---\n\n# Hi\n\na & b\n\n--- ${pages.base}/missing ---\n\nHTTP 404\nnothing here`,
  );
  const failed = await fetchAll('/round', '/data');
  expect(failed.isError).toBe(true);
  expect(failed.content).toMatch(/more than 5 redirects[\s\S]*application\/octet-stream, not text/);
});

test('the machine’s own network is out of reach, by number, by name and through a redirect', async () => {
  await using pages = await startPages({
    '/out': { status: 302, headers: { location: 'http://10.0.0.1/' } },
  });
  const run = async (url: string, isAllowed?: (address: string) => boolean) => {
    const output = await createWebFetchTool('url', isAllowed ? { isAllowed } : {}).executor({ url }, context);
    return typeof output === 'string' ? output : String(output.content);
  };
  expect(await run(`${pages.base}/out`)).toMatch(/127\.0\.0\.1 is not on the public internet/);
  expect(await run('http://localhost/')).toMatch(/localhost is not on the public internet/);
  expect(await run('http://[::1]/')).toMatch(/::1 is not on the public internet/);
  const loopbackOnly = (address: string) => address.startsWith('127.');
  expect(await run(`${pages.base}/out`, loopbackOnly)).toMatch(/10\.0\.0\.1 is not on the public internet/);
  await expect(run('ftp://example.com/')).rejects.toThrow(/no http or https address/);
});

test.each([
  ['8.8.8.8', true],
  ['2606:4700::1111', true],
  ['127.0.0.1', false],
  ['169.254.169.254', false],
  ['192.168.1.1', false],
  ['0.0.0.0', false],
  ['::1', false],
  ['fd00::1', false],
  ['::ffff:10.0.0.1', false],
  ['::ffff:a00:1', false],
])('%s is public: %s', (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});

test('HTML comes as readable text', () => {
  const html =
    '<head><title>t</title></head><ul><li>one <li>two</ul><a href="https://x.y/z">link</a><br>&#x41;&#66;&lt;&nbsp;&unknown;';
  expect(htmlToText(html)).toBe('- one\n- two\n\nlink (https://x.y/z)\nAB<\u0020&unknown;');
});
