import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAgent, openSession } from '@whetstone/agents';
import {
  type DrivenAgentKind,
  drivenAgentKinds,
  drivenAgents,
  openPermissions,
  type Permissions,
} from '@whetstone/agents/config';
import { testedVersion } from '@whetstone/agents/install';
import { deriveAgentMetadata } from '@whetstone/events';
import { createGateway, defineScript, type ScriptCall } from '@whetstone/gateway';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KNOWN_MODELS, openAgent } from './drive-agent.ts';
import { cacheFolder, programs } from './install.ts';

let outside: string;
beforeAll(async () => {
  // Not in /tmp, which some sandboxes leave open.
  await mkdir('/var/tmp', { recursive: true });
  outside = await mkdtemp(join(process.platform === 'linux' ? '/var/tmp' : tmpdir(), 'outside-'));
});
afterAll(() => rm(outside, { recursive: true, force: true }));

/** A page that no agent may see when the network is off. */
const page = createServer((_, response) => {
  visits += 1;
  response.end(String(visits));
});
let visits = 0;
let pageUrl: string;
beforeAll(async () => {
  await once(page.listen(0, '127.0.0.1'), 'listening');
  pageUrl = `http://127.0.0.1:${(page.address() as AddressInfo).port}/page`;
});
afterAll(() => page.close());

/** Tools that go to the network, as the agents call them. */
const WEB = /^(?:google_)?web_?(?:fetch|search)$/i;
const SHELL = /^(?:exec_command|Bash|bash|run_shell_command)$/;
const WRITE = /^(?:write_file|Write|write|create|apply_patch)$/;

/** A model that tries everything that it is offered, one call after the other. */
const attempts = (calls: readonly ScriptCall[]) =>
  defineScript({
    name: 'attempts',
    play({ toolResults, tools }) {
      const web = tools.filter(({ name }) => WEB.test(name));
      const can = (pattern: RegExp) => tools.some(({ name }) => pattern.test(name));
      const open = calls.filter(({ tool }) => can(SHELL) || (tool === 'write' && can(WRITE)));
      const call = [...open, ...web.map(visit)][toolResults.length];
      return call ? { calls: [call] } : { text: 'I tried.' };
    },
  });

/** With the arguments that the agents give to such tools. */
const visit = ({ name }: { name: string }): ScriptCall => ({
  ...{ tool: 'native', name },
  input: { url: pageUrl, query: pageUrl, prompt: `Read ${pageUrl}`, format: 'text' },
});

async function tryOut(kind: DrivenAgentKind, permissions: Partial<Permissions>) {
  const link = join(outside, kind);
  await mkdir(link, { recursive: true });
  const script = attempts([
    { tool: 'write', path: 'inside.txt', content: 'a\n' },
    { tool: 'write', path: join(outside, 'absolute.txt'), content: 'a\n' },
    { tool: 'write', path: '../above.txt', content: 'a\n' },
    { tool: 'write', path: 'link/linked.txt', content: 'a\n' },
    { tool: 'shell', command: 'echo a > shell.txt' },
    { tool: 'shell', command: `echo a > ${outside}/shell.txt` },
    { tool: 'shell', command: '(: < /dev/tcp/127.0.0.1/$PORT) 2>&1; true' },
    { tool: 'shell', command: 'printenv USERS_SECRET || echo absent' },
  ]);
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script } });
  const extra = { links: { link }, env: { PORT: new URL(lane.baseUrl).port } };
  process.env.USERS_SECRET = 'of-the-user';
  try {
    await using session = await openAgent({ kind, lane, permissions, extra });
    const { turn } = await session.turn('Try it all.', { timeoutMs: 90_000 });
    expect(turn.status, turn.exit?.message).toBe('completed');
    const escaped = [...(await readdir(outside, { recursive: true }))].filter((path) =>
      path.endsWith('.txt'),
    );
    for (const path of escaped) await rm(join(outside, path));
    const above = existsSync(join(session.workspace, '../above.txt'));
    return {
      inside: Object.keys(await session.files()).filter((name) => name !== 'README.md'),
      escaped: [...escaped, ...(above ? ['above.txt'] : [])],
      metadata: deriveAgentMetadata(turn.events, turn.facts),
    };
  } finally {
    delete process.env.USERS_SECRET;
  }
}

const closed = { shell: 'off', network: 'off' } as const;

test.each(drivenAgentKinds)(
  '%s writes nothing and reaches no page when all that it can be held to is off',
  async (kind) => {
    const apps = drivenAgents[kind].facts.enforces?.apps?.includes('off') ? { apps: 'off' as const } : {};
    const before = visits;
    const { inside, escaped, metadata } = await tryOut(kind, {
      ...{ ...closed, ...apps },
      filesystem: 'read-only',
    });
    expect([...inside, ...escaped]).toEqual([]);
    // A tool for the network is not offered, or each call of it is refused.
    expect(visits).toBe(before);
    const web = metadata.tools.filter(({ name }) => WEB.test(name));
    expect(web.filter(({ status }) => status !== 'rejected')).toEqual([]);
    expect(metadata.permissions).toMatchObject({
      ...{ ...closed, ...apps },
      filesystem: 'read-only',
      environment: 'minimal',
    });
    expect(JSON.stringify(metadata)).not.toContain('of-the-user');
  },
);

const confined = drivenAgentKinds.filter((kind) =>
  drivenAgents[kind].facts.enforces?.filesystem?.includes('workspace'),
);

test.each(confined)('%s writes in its workspace only, also through links', async (kind) => {
  const { inside, escaped, metadata } = await tryOut(kind, { ...closed, filesystem: 'workspace' });
  expect(inside).toEqual(['inside.txt']);
  expect(escaped).toEqual([]);
  // What was refused has a decision that says who made it.
  for (const { callId } of metadata.tools.filter(({ status }) => status === 'rejected')) {
    expect(metadata.approvals).toContainEqual(
      expect.objectContaining({
        callId,
        decision: 'denied',
        by: expect.stringMatching(/^(?:agent|policy)$/),
      }),
    );
  }
});

test('the commands of codex-cli write in the workspace only, and reach no network', async () => {
  const { inside, escaped, metadata } = await tryOut('codex-cli', {
    filesystem: 'workspace',
    network: 'off',
  });
  expect(inside.sort()).toEqual(['inside.txt', 'shell.txt']);
  expect(escaped).toEqual([]);
  const outputs = JSON.stringify(metadata.tools);
  expect(outputs).toContain('Operation not permitted');
  expect(outputs).toContain('absent');
});

test('an agent without permissions of its own may do everything, and its record says so', async () => {
  const { inside, escaped, metadata } = await tryOut('pi', {});
  expect(inside.sort()).toEqual(['inside.txt', 'shell.txt']);
  expect(escaped.sort()).toEqual(['above.txt', 'absolute.txt', 'pi/linked.txt', 'shell.txt']);
  expect(metadata.permissions).toEqual({
    ...{ filesystem: 'full', shell: 'allow', network: 'open', apps: 'allow', environment: 'minimal' },
  });
});

test.each([
  ['off', false],
  ['allow', true],
] as const)('with apps: %s, an extension that the user gave pi runs: %s', async (apps, runs) => {
  const [canary, home] = [join(outside, `extension-${apps}`), join(outside, `home-${apps}`)];
  const folder = join(home, '.pi/agent/extensions');
  await mkdir(folder, { recursive: true });
  const write = `writeFileSync('${canary}', '')`;
  await writeFile(
    join(folder, 'canary.ts'),
    `import { writeFileSync } from 'node:fs';\n${write};\nexport default () => {};\n`,
  );
  await using gateway = await createGateway();
  const script = attempts([]);
  await using lane = await gateway.open({ owner: 'pi', mode: { kind: 'script', script } });
  const environment = { ...process.env, HOME: home, XDG_CACHE_HOME: cacheFolder };
  const version = testedVersion(drivenAgents.pi);
  const pi = await createAgent(
    { kind: 'pi', version, model: KNOWN_MODELS.pi, inherit: ['.pi/agent/extensions'], permissions: { apps } },
    { environment, hasLanes: true },
  );
  await using session = await openSession(pi, { folder: home, lane: { ...lane, env: {} } });
  const turn = await session.send('Hello.', { timeoutMs: 60_000 });
  expect(turn.status, turn.exit?.message).toBe('completed');
  expect(existsSync(canary)).toBe(runs);
});

test.each([
  ['off', /Disabled via env var/, /Fetching from/],
  ['allow', /Fetching from \S+mcp_servers/, /Disabled via env var/],
] as const)(
  'with apps: %s, Claude Code itself says of the connectors of a login: %s',
  async (apps, says, not) => {
    const home = join(outside, `claude-${apps}`);
    const claudeAiOauth = {
      accessToken: 'sk-ant-oat01-of-the-user',
      scopes: ['user:inference', 'user:mcp_servers'],
    };
    await mkdir(join(home, '.claude'), { recursive: true });
    await writeFile(join(home, '.claude/.credentials.json'), JSON.stringify({ claudeAiOauth }));
    const { launch } = drivenAgents['claude-code'];
    const permissions = { ...openPermissions, apps };
    const place = { home, workingDirectory: home, permissions };
    const access = { kind: 'login', baseUrl: NOWHERE, env: { HTTPS_PROXY: NOWHERE } } as const;
    const { env, args = [] } = launch.settings({ access, ...place });
    const debug = ['--debug-file', join(home, 'debug.log'), 'Hello.'];
    const turn = launch.turn({ access: 'login', ...place });
    const ran = promisify(execFile)(join(programs, 'claude'), [...args, ...turn, ...debug], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, CLAUDE_CODE_MAX_RETRIES: '0', ...env },
    });
    ran.child.stdin?.end();
    await expect(ran).rejects.toThrow('Command failed');
    const log = await readFile(join(home, 'debug.log'), 'utf8');
    const connectors = log
      .split('\n')
      .filter((line) => line.includes('[claudeai-mcp]'))
      .join('\n');
    expect(connectors).toMatch(says);
    expect(connectors).not.toMatch(not);
  },
);

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:1';

test.each([
  ['off', 'false'],
  ['allow', 'true'],
] as const)('with apps: %s, Codex itself says that its feature of that name is %s', async (apps, state) => {
  const permissions = { ...openPermissions, apps };
  const args = drivenAgents['codex-cli'].launch.turn({
    access: 'key',
    workingDirectory: outside,
    permissions,
  });
  const features = args.flatMap((arg, index) => (arg === '--disable' ? [arg, args[index + 1] ?? ''] : []));
  const { stdout } = await promisify(execFile)(join(programs, 'codex'), [...features, 'features', 'list'], {
    env: { PATH: process.env.PATH, HOME: outside },
  });
  expect(stdout).toMatch(new RegExp(`^apps\\s.*\\s${state}$`, 'm'));
});
