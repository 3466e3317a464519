import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from './load-config.ts';
import { needsOpenSandbox } from './needs-open-sandbox.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'open-sandbox-test-'));
  mkdirSync(join(folder, 'repo'));
  for (const name of ['script.yaml', 'mine.ts', 'server.mjs'])
    writeFileSync(join(folder, name), 'name: none\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

const SCRIPT = { gateway: { mode: 'script', script: 'script.yaml' } };
const agent = (keys: object) => ({ agents: { mine: keys } });
const mine = agent({ kind: 'custom', command: 'sh work.sh' });
const server = (keys: object) => ({
  ...agent({ kind: 'claude-code' }),
  variants: { with: { mcp_servers: { tickets: keys } } },
});

const SEALED: [what: string, config: object][] = [
  ['our loop, which calls its model from outside', agent({ kind: 'loop', profile: 'openai' })],
  ['a command with a gateway', { ...mine, ...SCRIPT }],
  ['an agent that only a sandbox confines', { ...agent({ kind: 'codex-cli' }), ...SCRIPT }],
  ['a server of its own file', { ...SCRIPT, ...server({ command: 'node', args: ['./server.mjs'] }) }],
  ['what is installed with the network', { ...mine, ...SCRIPT, environment: { prepare: ['npm ci'] } }],
];

const OPEN: [what: string, config: object, why: string][] = [
  ['no gateway', mine, 'The agent mine does not use a gateway, so it needs the network to reach its model.'],
  [
    'an address beside the gateway',
    { ...agent({ kind: 'codex-cli', base_url: 'http://127.0.0.1:1' }), ...SCRIPT },
    'The agent mine does not use a gateway, so it needs the network to reach its model.',
  ],
  [
    'an agent in our process',
    { ...agent({ kind: 'custom', module: 'mine.ts' }), ...SCRIPT },
    'The agent mine is code in the process of Whetstone, which no sandbox holds.',
  ],
  [
    'a declared network',
    { ...agent({ kind: 'custom', command: 'sh work.sh', network: 'enabled' }), ...SCRIPT },
    'The agent mine is configured with `network: enabled`.',
  ],
  [
    'a sandbox in the sandbox',
    { ...agent({ kind: 'codex-cli', permissions: { filesystem: 'workspace', network: 'off' } }), ...SCRIPT },
    'The agent mine confines its commands itself, which fails in a sealed sandbox.',
  ],
  [
    'a server elsewhere',
    { ...SCRIPT, ...server({ url: 'https://tickets.example.com/mcp' }) },
    'The MCP server tickets of the variant with is reached by the network.',
  ],
  [
    'a check that installs',
    { ...mine, ...SCRIPT, evaluation: { commands: ['npm ci && npm test'] } },
    'The check `npm ci && npm test` seems to fetch something: install it with `environment.prepare` or `setup`.',
  ],
  [
    'a service in a container',
    {
      ...mine,
      ...SCRIPT,
      environment: { services: { db: { command: 'docker run --rm -p {port}:5432 postgres' } } },
    },
    '`docker run --rm -p {port}:5432 postgres` starts a container.',
  ],
];

async function reasons(config: object, platform?: NodeJS.Platform): Promise<string[]> {
  const file = join(folder, 'whetstone.yaml');
  writeFileSync(join(folder, 'tasks.yaml'), stringify({ tasks: [{ id: 'one', prompt: 'x' }] }));
  writeFileSync(file, stringify({ repo: { path: 'repo' }, variants: { with: {} }, ...config }));
  const { config: loaded } = await loadConfig(file);
  return needsOpenSandbox(loaded, loaded, [], platform);
}

test.for(SEALED)('a sealed sandbox has all that is needed: %s', async ([, config]) => {
  expect(await reasons(config)).toEqual([]);
});

test.for(OPEN)('a sealed sandbox would break a case: %s', async ([, config, why]) => {
  expect(await reasons(config)).toEqual([why]);
});

test('a path that a command names is only there if it is listed', async () => {
  const file = join(folder, 'script.yaml');
  const why = `${file} is named in a command, and only \`sandbox.readable\` would make it visible.`;
  expect(
    await reasons({ ...agent({ kind: 'custom', command: `sh '${file}' /usr/bin` }), ...SCRIPT }),
  ).toEqual([why]);
});

test('on macOS a sealed command has no port of its own, and setup no wider network', async () => {
  const installing = { ...mine, ...SCRIPT, environment: { prepare: ['npm ci'] } };
  expect(await reasons(installing, 'linux')).toEqual([]);
  expect(await reasons(installing, 'darwin')).toEqual([
    'What installs packages needs the network, and on macOS only `sandbox.hosts` opens it.',
  ]);
  expect(await reasons({ ...installing, sandbox: { hosts: ['npm.example.com'] } }, 'darwin')).toEqual([]);
  const serving = { ...mine, ...SCRIPT, environment: { services: { db: { command: 'serve {port}' } } } };
  expect(await reasons(serving, 'darwin')).toEqual([
    '`environment.services` need ports of this machine, which are closed in a sealed sandbox on macOS.',
  ]);
});
