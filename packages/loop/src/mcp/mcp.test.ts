import { existsSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { calls, says, toolCall } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { markProcesses } from '../environment/__fixtures__/marked-processes.ts';
import { LocalExecutionEnvironment } from '../environment/local-environment.ts';
import { connectMcpServers } from './connect-mcp-servers.ts';
import type { McpOptions, McpServer } from './mcp-server.ts';

const PROGRAM = join(import.meta.dirname, '__fixtures__/server-program.ts');
const serverOf = (mode = 'serve', name = 'fixture'): McpServer => {
  const env = { EDITION: 'second', NODE_NO_WARNINGS: '1' };
  return { kind: 'command', name, command: process.execPath, args: [PROGRAM, mode], env };
};

let place: Awaited<ReturnType<typeof temporaryEnvironment>>;
beforeEach(async () => {
  place = await temporaryEnvironment();
});
afterEach(() => place[Symbol.asyncDispose]());

const connect = (servers: readonly McpServer[], options: Partial<McpOptions> = {}) =>
  connectMcpServers(servers, { environment: place.environment, ...options });

/** What each of these calls, one after the other, gives the model. */
async function play(
  servers: readonly McpServer[],
  names: readonly [name: string, input?: object][],
  options: Partial<McpOptions> = {},
) {
  await using mcp = await connect(servers, options);
  const steps = names.map(([name, input = {}]) => calls(toolCall(`mcp__fixture__${name}`, input)));
  await using run = await startSession([...steps, says('done')], { tools: [...mcp.tools] });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed' });
  const results = run.session.history.flatMap((turn) => (turn.kind === 'tool_results' ? turn.results : []));
  return { results, offered: run.model.requests[0]?.tools?.map((tool) => tool.name), ...mcp };
}

test('tools of all pages are offered under names that providers take; arguments are checked here', async () => {
  const { results, tools, problems } = await play(
    [serverOf()],
    [
      ['echo', { text: 'zebra' }],
      ['echo', { text: 1 }],
      ['async'],
      ['a_b', { text: 'odd' }],
      ['fail'],
      ['picture'],
      ['numbers'],
      ['unstructured', { text: 'x' }],
      ['refuse'],
    ],
  );
  const names = tools.map(({ definition }) => definition.name);
  expect(names.slice(0, 9)).toEqual(
    ['echo', 'fail', 'picture', 'numbers', 'unstructured', 'refuse', 'wait', 'crash', 'a_b'].map(
      (name) => `mcp__fixture__${name}`,
    ),
  );
  expect(names[9]).toMatch(/^mcp__fixture__a_b_[0-9a-f]{8}$/);
  expect(names[10]).toMatch(/^mcp__fixture__x+_[0-9a-f]{8}$/);
  expect(names[10]).toHaveLength(64);
  expect(problems.map(({ server, message }) => [server, message.replace(/\(.*\)/, '(…)')])).toEqual([
    [
      'fixture',
      'The tool shapeless of the MCP server fixture is left out: inputSchema: Invalid input: expected object, received undefined',
    ],
    [
      'fixture',
      'Tool 14 of the MCP server fixture is left out: it is not a tool: Invalid input: expected object, received string',
    ],
    ['fixture', 'The tool bad of the MCP server fixture is left out: its input schema cannot be used (…)'],
  ]);
  expect(results.map(({ isError, content }) => [isError, content])).toEqual([
    [false, 'echo: zebra second'],
    [true, expect.stringMatching(/\/text must be string/)],
    [true, expect.stringMatching(/required property 'text'/)],
    [false, 'a b: odd second'],
    [true, 'there is no such word'],
    [
      false,
      'A picture:\n[image of 3 bytes, image/png, not shown]\n[resource note://1]\na note\n[resource x: file:///x]',
    ],
    [false, '{"n":1}'],
    // It has an output schema, which is for programs. The call has had its effect, and the model has to read of it.
    [false, 'unstructured: x second'],
    [true, 'Tool error (mcp__fixture__refuse): MCP server fixture has failed: no entry'],
  ]);
});

test('servers of one name keep all their tools', async () => {
  await using alone = await connect([serverOf()]);
  await using mcp = await connect([serverOf(), serverOf(), serverOf()]);
  expect(new Set(mcp.tools.map(({ definition }) => definition.name)).size).toBe(3 * alone.tools.length);
});

test('a server that crashes fails its open call and every later one, with its last output', async () => {
  const { results } = await play([serverOf()], [['crash'], ['echo', { text: 'x' }]]);
  const end = /it has ended \(exit code 3\): out of cheese$/;
  expect(results.map(({ isError }) => isError)).toEqual([true, true]);
  expect(results[0]?.content).toMatch(/MCP server fixture has failed: /);
  expect(results[1]?.content).toMatch(/MCP server fixture has ended: /);
  for (const { content } of results) expect(content).toMatch(end);
});

test('a call has a time limit, after which the server gets a cancellation', async () => {
  const { results } = await play([serverOf()], [['wait'], ['echo', { text: 'on' }]], {
    callTimeoutMs: 1_000,
  });
  expect(results[0]).toMatchObject({
    isError: true,
    content: expect.stringContaining('has not answered within 1 s'),
  });
  expect(results[1]).toMatchObject({ isError: false, content: 'echo: on second' });
  expect(readFileSync(place.path('cancelled'), 'utf8')).toContain('notifications/cancelled');
});

test('an interrupt ends the call and tells the server; a close leaves nothing of it', async () => {
  const mark = markProcesses();
  await using environment = new LocalExecutionEnvironment({
    workingDirectory: place.directory,
    env: mark.env,
  });
  const mcp = await connect([serverOf()], { environment });
  await using run = await startSession([calls(toolCall('mcp__fixture__wait', {})), says('never')], {
    tools: [...mcp.tools],
  });
  const submitted = run.session.submit('go');
  await vi.waitUntil(() => existsSync(place.path('waiting')), { timeout: 30_000 });
  await run.session.interrupt();
  expect(await submitted).toMatchObject({ reason: 'interrupted' });
  expect(run.of('TOOL_CALL_END')).toMatchObject([{ data: { status: 'aborted' } }]);
  await vi.waitUntil(() => existsSync(place.path('cancelled')), { timeout: 30_000 });
  await mark.running(1);
  await Promise.all([mcp.close(), mcp.close()]);
  expect(await mark.left()).toEqual(new Map());
  await mark[Symbol.asyncDispose]();
});

test('servers that cannot be used are reported, and do not affect the others', async () => {
  const mark = markProcesses();
  await using environment = new LocalExecutionEnvironment({
    workingDirectory: place.directory,
    env: mark.env,
  });
  const missing: McpServer = { kind: 'command', name: 'missing', command: 'no-such-program-here' };
  const closed: McpServer = { kind: 'http', name: 'closed', url: 'http://127.0.0.1:9/mcp' };
  const mistyped: McpServer = { kind: 'http', name: 'mistyped', url: 'tickets.example.com/mcp' };
  const servers = [
    mistyped,
    ...['garbage', 'flood', 'no tools', 'serve'].map((mode) => serverOf(mode, mode.replace(' ', '-'))),
    missing,
    closed,
  ];
  await using mcp = await connect(servers, { environment });
  await using slow = await connect([serverOf('silent', 'silent')], { environment, startTimeoutMs: 300 });
  expect(mcp.tools.length).toBeGreaterThan(0);
  for (const { definition } of mcp.tools) expect(definition.name).toMatch(/^mcp__serve__/);
  const reasons = Object.fromEntries(
    [...mcp.problems, ...slow.problems].map(({ server, message }) => [server, message]),
  );
  expect(reasons).toEqual({
    silent: 'The MCP server silent cannot be used: it was not ready within 0.3 s',
    garbage:
      'The MCP server garbage cannot be used: it has ended (exit code 7): no license found ask for one',
    flood: 'The MCP server flood cannot be used: it wrote a line of more than 16777216 bytes',
    mistyped: 'The MCP server mistyped cannot be used: its url is not a URL',
    missing: expect.stringMatching(/cannot be used: .*ENOENT/),
    closed: expect.stringMatching(/cannot be used: .*(ECONNREFUSED|bad port)/),
    serve: expect.stringContaining('The tool bad'),
  });
  await mcp.close();
  expect(await mark.left()).toEqual(new Map());
  await mark[Symbol.asyncDispose]();
});

test('an abort while servers start gives up on them', async () => {
  const giveUp = new AbortController();
  const connecting = connect([serverOf('silent')], { signal: giveUp.signal });
  giveUp.abort(new Error('the user left'));
  await using mcp = await connecting;
  expect(mcp).toMatchObject({ tools: [], problems: [{ message: expect.stringContaining('the user left') }] });
});

type Call = { id?: number; method: string; params?: { name?: string } };

/** A server over HTTP. `answerCall`: answers a call of a tool, whose response is `body`. */
async function serveHttp(
  tools: readonly string[],
  answerCall: (response: ServerResponse, body: string, tool: string) => void,
) {
  const keys = new Set<unknown>();
  const http = createServer(async (request, response) => {
    keys.add(request.headers['x-key']);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = (await json(request)) as Call;
    if (id === undefined) return void response.writeHead(202).end();
    const answers: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'r', version: '1' },
      },
      'tools/list': { tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) },
      'tools/call': { content: [{ type: 'text', text: 'pong' }] },
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] });
    if (method === 'tools/call') return answerCall(response, body, params?.name ?? '');
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const server: McpServer = { kind: 'http', name: 'fixture', url, headers: { 'X-Key': 'k' } };
  const close = (): void => {
    http.closeAllConnections();
    http.close();
  };
  return { server, keys, [Symbol.dispose]: close };
}

const EVENTS = { 'content-type': 'text/event-stream' };

test('a server with a URL is called from this process, with its headers', async () => {
  using http = await serveHttp(['ping'], (response, body) => {
    response.writeHead(200, EVENTS).end(`event: message\ndata: ${body}\n\n`);
  });
  const { results } = await play([http.server], [['ping']]);
  expect(results).toMatchObject([{ isError: false, content: 'pong' }]);
  expect([...http.keys]).toEqual(['k']);
});

test('a call over HTTP whose answer has no response in it fails at once', async () => {
  const answers: Record<string, (response: ServerResponse, body: string) => void> = {
    cut: (response, body) => {
      response.writeHead(200, EVENTS).write(`event: message\ndata: ${body.slice(0, 20)}`);
      setImmediate(() => response.destroy());
    },
    nothing: (response) => void response.writeHead(200, EVENTS).end(),
    text: (response) => void response.writeHead(200, EVENTS).end('data: pong\n\n'),
    accepted: (response) => void response.writeHead(202).end(),
    page: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    ping: (response, body) => void response.writeHead(200, EVENTS).end(`data: ${body}\n\n`),
  };
  const names = Object.keys(answers);
  using http = await serveHttp(names, (response, body, tool) => answers[tool]?.(response, body));
  const { results } = await play(
    [http.server],
    names.map((name): [string] => [name]),
  );
  const ended = expect.stringContaining('fixture has failed: its answer ended without a response');
  expect(results.map(({ content }) => content)).toEqual([
    ended,
    ended,
    ended,
    expect.stringContaining('it accepted a request (HTTP 202) and did not answer it'),
    expect.stringContaining('Unexpected content type: text/html'),
    'pong',
  ]);
});

test('an endless HTTP answer is abandoned, and so is a redirect to another host', async () => {
  const megabyte = 'x'.repeat(1024 * 1024);
  const http = createServer(async (request, response) => {
    if (request.url === '/away')
      return void response.writeHead(307, { location: 'http://localhost:9/' }).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    while (!response.destroyed) await new Promise((done) => response.write(megabyte, done));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const servers = ['endless', 'away'].map(
    (name): McpServer => ({ kind: 'http', name, url: `${base}/${name}` }),
  );
  await using mcp = await connect(servers);
  expect(mcp.problems.map(({ message }) => message)).toEqual([
    expect.stringContaining('it answered with more than 67108864 bytes'),
    expect.stringMatching(/Redirect to .* not followed/),
  ]);
  http.closeAllConnections();
  http.close();
});
