import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InstalledAgent, openAgent } from './drive-agent.ts';
import { programs } from './install.ts';
import { native, openSteps, type StepsSession } from './play-steps.ts';

/** The server of a user, with a provider, a key and a session of its own. All tests share it. */
const PASSWORD = 'password-of-the-server';
const model = 'mine/qwen3-coder-plus';
const extra = { env: { OPENCODE_SERVER_PASSWORD: PASSWORD } };
const policy = [{ allow: { command: 'echo *' } }, { allow: { command: 'sleep *' } }];
const LONG_MS = 120_000;
let folder: string;
let server: ChildProcess;
let url: string;
let lane: InstalledAgent['lane'];
let session: StepsSession;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'server-'));
  session = await openSteps({
    ...{ kind: 'opencode-sdk', model, extra },
    async settings(given) {
      lane = given;
      url = await startServer();
      return { options: { server_url: url }, policy };
    },
  });
});
afterAll(async () => {
  await session?.[Symbol.asyncDispose]();
  // At a TERM it can wait for what still runs in it.
  server?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

async function startServer(): Promise<string> {
  const home = join(folder, 'home');
  mkdirSync(home);
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: `${lane.baseUrl}/v1`, apiKey: lane.key },
    models: { 'qwen3-coder-plus': {} },
  };
  // What the server allows by itself counts for nothing in a session of Whetstone.
  const permission = { bash: 'allow', edit: 'allow' };
  server = spawn(join(programs, 'opencode'), ['serve', '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      OPENCODE_SERVER_PASSWORD: PASSWORD,
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider: { mine: provider }, permission }),
    },
  });
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    const [, found] = /listening on (http:\S+)/.exec(line) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error('The server of OpenCode did not start.');
}

/** Asks the server, as its user. */
async function ask(method: string, path: string, directory: string, body?: object): Promise<unknown> {
  const authorization = `Basic ${Buffer.from(`opencode:${PASSWORD}`).toString('base64')}`;
  const response = await fetch(`${url}${path}?directory=${encodeURIComponent(directory)}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}

const sessions = async (directory: string): Promise<string[]> =>
  ((await ask('GET', '/session', directory)) as { id: string }[]).map(({ id }) => id);

const bash = (command: string) => native('bash', { command });

test('a session on a server of the user asks about each call, whatever the server allows', async () => {
  const outside = join(folder, 'outside.txt');
  const first = await session.play(
    [
      bash(`touch ${outside}`),
      bash('echo top > top.txt'),
      native('write', { filePath: join(session.workspace, 'new.txt'), content: 'new\n' }),
      native('write', { filePath: outside, content: 'x' }),
    ],
    { prompt: 'My number is 4711.', timeoutMs: LONG_MS },
  );
  const { turn, metadata, asked, calls } = first;
  expect(turn, turn.exit?.message).toMatchObject({ status: 'completed' });
  expect(metadata.approvals.map(({ decision, rule }) => `${decision} ${rule}`)).toEqual([
    'denied permissions.shell: ask',
    'approved allow {command: "echo *"}',
    'approved permissions.filesystem: workspace',
    'denied permissions.filesystem: workspace (outside it)',
  ]);
  expect(existsSync(outside)).toBe(false);
  expect(await session.files()).toMatchObject({ 'top.txt': 'top\n', 'new.txt': 'new\n' });
  // The session of a sub-agent would not ask.
  expect(asked).not.toContain('"name":"task"');
  expect(turn.facts).toMatchObject({ reproducibility: 'external', permissions: { apps: 'allow' } });
  expect(turn.facts?.permissions).not.toHaveProperty('environment');
  // No gateway meters it: the usage is what the server reports of every step, and nobody knows what it cost.
  expect(turn.usage?.inputTokens).toBe(calls.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0));
  expect(turn.costUsd).toBeUndefined();

  const second = await session.play([], { prompt: 'Which number?' });
  expect(second.turn.status).toBe('completed');
  expect(second.sessionId).toBe(first.sessionId);
  expect(second.asked).toContain('My number is 4711.');
});

test('a time limit ends the turn on the server and deletes its session, and no other', async () => {
  const own = (await ask('POST', '/session', folder, { title: 'of the user' })) as { id: string };
  const { turn, sessionId } = await session.play([bash('sleep 600')], { timeoutMs: 8_000 });
  expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'timeout' } });
  expect(await ask('GET', '/session/status', session.workspace)).toEqual({});
  expect(await sessions(session.workspace)).not.toContain(sessionId);
  expect(await sessions(folder)).toContain(own.id);
  expect(server.exitCode).toBeNull();
});

test.each([
  [
    'settings of the repository',
    { files: { 'opencode.json': '{}' } },
    {},
    /settings of the repository.*opencode\.json/,
  ],
  ['an unknown agent', {}, { agent: 'nobody' }, /OpenCode has no agent nobody. It has: build/],
  [
    'an unknown variant',
    {},
    { variant: 'vast' },
    /qwen3-coder-plus of OpenCode has no variant vast. It has: none/,
  ],
])('%s: a failed turn that says why', async (_, given, options, reason) => {
  await using agent = await openAgent({
    ...{ kind: 'opencode-sdk', lane, model, options: { server_url: url, ...options } },
    extra: { ...extra, ...given },
  });
  const { turn } = await agent.turn('Do it.', { timeoutMs: LONG_MS });
  expect(turn).toMatchObject({ status: 'failed', exit: { message: expect.stringMatching(reason) } });
});

test('a fork remembers under an id of its own, and sessions that are kept stay on the server', async () => {
  const options = { server_url: url, fork_session: true, keep_session: true };
  const agent = await openAgent({ ...{ kind: 'opencode-sdk', lane, model, extra, options } });
  const { workspace } = agent;
  session.answer([]);
  const first = await agent.turn('My number is 4711.', { timeoutMs: LONG_MS });
  const second = await agent.turn('Which number?', { timeoutMs: LONG_MS });
  await agent[Symbol.asyncDispose]();
  expect([first.turn.status, second.turn.status]).toEqual(['completed', 'completed']);
  expect(second.sessionId).not.toBe(first.sessionId);
  const kept = [first.sessionId, second.sessionId].sort();
  expect((await sessions(workspace)).sort()).toEqual(kept);
  const said = (await ask('GET', `/session/${second.sessionId}/message`, workspace)) as object[];
  expect(JSON.stringify(said)).toMatch(/My number is 4711\..*Which number\?/);
});

/** A server of HTTP that answers everything with one body, or never. */
async function answering(type: string, body?: string): Promise<{ url: string } & AsyncDisposable> {
  const other = createServer((_, response) => {
    if (body !== undefined) response.setHeader('content-type', type).end(body);
  });
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const { port } = other.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      other.closeAllConnections();
      await once(other.close(), 'close');
    },
  };
}

/** A port at which nothing listens. */
async function freePort(): Promise<number> {
  await using other = await answering('', '');
  return Number(new URL(other.url).port);
}

const HTML = ['text/html; charset=utf-8', '<!doctype html><p>Hello'] as const;
const OLD = ['application/json', '{"healthy":true,"version":"1.0.223"}'] as const;
const SILENT = ['', undefined] as const;

test.each<[string, readonly [type: string, body: string | undefined] | undefined, string]>([
  ['a wrong password', undefined, 'it refuses the password (HTTP status 401)'],
  ['a server that is not one of OpenCode', HTML, 'it does not answer as OpenCode does'],
  ['a server that is too old', OLD, 'it is OpenCode 1.0.223, and 1.1 or later is needed'],
  ['a server that does not answer', SILENT, 'it does not answer within 0.5 seconds'],
  ['a server that does not run', undefined, 'connect ECONNREFUSED 127.0.0.1:PORT'],
])('%s is an error, and not a failure of the agent', async (name, answer, reason) => {
  await using other = answer && (await answering(...answer));
  const port = await freePort();
  const address = other?.url ?? (name.endsWith('not run') ? `http://127.0.0.1:${port}` : url);
  const why = reason.replace('PORT', String(port));
  await using agent = await openAgent({
    ...{ kind: 'opencode-sdk', lane, model },
    // Only what never answers reaches the limit.
    options: { server_url: address, ...(answer === SILENT && { server_timeout_seconds: 0.5 }) },
    extra: { env: { OPENCODE_SERVER_PASSWORD: 'wrong' } },
  });
  await expect(agent.turn('Do it.', { timeoutMs: LONG_MS })).rejects.toMatchObject({
    code: 'agent-server-unusable',
    message: `The server of OpenCode at ${address} cannot be used: ${why}.`,
  });
});

test('an approval that the server remembers fails the turn, and the end of the case deletes its session', async () => {
  const agent = await openAgent({
    ...{ kind: 'opencode-sdk', lane, model, extra, options: { server_url: url } },
  });
  const { workspace } = agent;
  session.answer([bash('echo remembered')]);
  const permission = [{ permission: 'bash', pattern: '*', action: 'ask' }];
  const own = (await ask('POST', '/session', workspace, { permission })) as { id: string };
  const [providerID, modelID] = model.split('/');
  const prompt = { model: { providerID, modelID }, parts: [{ type: 'text', text: 'Do it.' }] };
  await ask('POST', `/session/${own.id}/prompt_async`, workspace, prompt);
  const [question] = await until(
    async () => (await ask('GET', '/permission', workspace)) as { id: string }[],
  );
  await ask('POST', `/permission/${question?.id}/reply`, workspace, { reply: 'always' });

  const { turn, sessionId } = await agent.turn('Do it.', { timeoutMs: LONG_MS });
  expect(turn).toMatchObject({
    status: 'failed',
    exit: { message: expect.stringContaining('ran bash without asking') },
  });
  expect(await sessions(workspace)).toContain(sessionId);
  await agent[Symbol.asyncDispose]();
  expect(await sessions(workspace)).toEqual([own.id]);
});

async function until<Item>(list: () => Promise<Item[]>): Promise<Item[]> {
  for (;;) {
    const found = await list();
    if (found.length > 0) return found;
    await pause(100);
  }
}
