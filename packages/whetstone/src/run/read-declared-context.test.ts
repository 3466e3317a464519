// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the config
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AgentConfig, McpServerConfig, PluginConfig } from '@whetstone/agents/config';
import { placeContext, pluginFolders } from '@whetstone/agents/evaluator';
import { startSandboxProvider } from '@whetstone/sandbox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { VariantConfig } from '../config/config.ts';
import { readDeclaredContext } from './read-declared-context.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'declared-context-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const base = { name: 'codex', kind: 'codex-cli', timeoutSeconds: 1, network: '', env: {} } as const;
const codex: AgentConfig = { ...base, runner: 'driver', driver: { inherit: [] } };
const codexCommand: AgentConfig = {
  ...base,
  runner: 'command',
  command: { kind: 'shell', script: 'codex' },
  telemetry: { collector: 'none', file: '', environmentVariable: null },
};

const variantOf = (fields: Partial<VariantConfig>): VariantConfig => ({
  name: 'v',
  description: '',
  overlays: [],
  ...fields,
});

const mcpServers: McpServerConfig[] = [
  {
    kind: 'command',
    name: 'glossary',
    command: 'node',
    args: [{ file: '/server.mjs' }, '-v'],
    env: { WORDS: '${WORDS}', LEVEL: '2', API_TOKEN: 'literal-token' },
  },
  {
    kind: 'http',
    name: 'remote',
    url: 'https://example.com/mcp',
    headers: { Authorization: 'Bearer ${REMOTE}', Accept: 'text/plain' },
  },
];

test('servers get the variables of the user that they name, and these are secrets', async () => {
  const environment = { WORDS: 'my words', REMOTE: 'r-e-m' };
  const declared = await readDeclaredContext(variantOf({ mcpServers }), environment);
  expect(declared.mcpServers).toEqual([
    {
      kind: 'command',
      name: 'glossary',
      command: 'node',
      args: ['/server.mjs', '-v'],
      env: { WORDS: 'my words', LEVEL: '2', API_TOKEN: 'literal-token' },
    },
    {
      kind: 'http',
      name: 'remote',
      url: 'https://example.com/mcp',
      headers: { Authorization: 'Bearer r-e-m', Accept: 'text/plain' },
    },
  ]);
  expect(declared.secrets).toEqual(['my words', 'literal-token', 'r-e-m', 'Bearer r-e-m']);
});

test('a variable that is not set stops the run; the error names it and its server', async () => {
  await expect(readDeclaredContext(variantOf({ mcpServers }), { WORDS: 'w' })).rejects.toMatchObject({
    code: 'env-missing',
    exitCode: 2,
    message: 'The MCP server remote needs REMOTE, which your environment does not set.',
    where: 'variants.v.mcp_servers.remote',
  });
});

test('a skill is placed with all its files, its programs executable', async () => {
  const source = join(folder, 'tea');
  mkdirSync(join(source, 'scripts'), { recursive: true });
  writeFileSync(join(source, 'SKILL.md'), 'Boil.');
  writeFileSync(join(source, 'scripts/boil.sh'), '#!/bin/sh\n');
  chmodSync(join(source, 'scripts/boil.sh'), 0o755);
  writeFileSync(join(source, 'leaf.bin'), Buffer.from([0, 255]));
  const skills = [{ name: 'brew-tea', description: 'Tea.', source }];
  const declared = await readDeclaredContext(
    variantOf({ skills, instructions: { mode: 'append', text: 'Be\nkind.' } }),
    {},
  );
  expect(declared).toMatchObject({
    instructions: 'Be\nkind.',
    skills: [{ name: 'brew-tea', text: 'Boil.' }],
  });

  const workdir = join(folder, 'work');
  mkdirSync(workdir);
  const provider = await startSandboxProvider('process', { scratch: join(folder, 'scratch') });
  await using sandbox = await provider.start({ workdir, env: {} });
  await placeContext(codex, { sandbox, declared, session: { isNew: true } });
  const placed = join(sandbox.home, '.codex/skills/brew-tea');
  expect(await readFile(join(placed, 'leaf.bin'))).toEqual(Buffer.from([0, 255]));
  expect(await readFile(join(placed, 'SKILL.md'), 'utf8')).toBe('Boil.');
  expect(statSync(join(placed, 'scripts/boil.sh')).mode & 0o111).toBe(0o111);
  expect(statSync(join(placed, 'SKILL.md')).mode & 0o111).toBe(0);
});

test('a plugin is placed where its agent looks for it, and its parts are known', async () => {
  const source = join(folder, 'house');
  for (const [path, text] of Object.entries({
    '.codex-plugin/plugin.json': '{"name":"house","mcpServers":{"cups":{}}}',
    'qwen-extension.json': '{"name":"house","contextFileName":["RULES.md","missing.md"]}',
    '.mcp.json': '{"mcpServers":{"cups":{},"pots":{},"a b":{}}}',
    'plugin.json': 'no JSON',
    'RULES.md': 'Guests first.',
    'skills/pour/SKILL.md': '---\nname: pour-tea\ndescription: How.\n---\nSlowly.\n',
    'skills/vague/SKILL.md': 'No front matter.\n',
    'hooks/greet.sh': '#!/bin/sh\n',
  })) {
    mkdirSync(dirname(join(source, path)), { recursive: true });
    writeFileSync(join(source, path), text);
  }
  chmodSync(join(source, 'hooks/greet.sh'), 0o755);
  const plugins: PluginConfig[] = [{ name: 'house', version: '2', source, kinds: ['codex-cli'] }];
  const declared = await readDeclaredContext(variantOf({ plugins }), {});
  expect(declared.plugins).toMatchObject([
    {
      name: 'house',
      version: '2',
      skills: [{ name: 'pour-tea', description: 'How.' }],
      mcpServers: ['cups', 'pots'],
      context: ['Guests first.'],
    },
  ]);

  const workdir = join(folder, 'work');
  mkdirSync(workdir);
  const provider = await startSandboxProvider('process', { scratch: join(folder, 'scratch') });
  await using sandbox = await provider.start({ workdir, env: {} });
  await placeContext(codex, { sandbox, declared, session: { isNew: true } });
  const placed = join(sandbox.home, '.codex/plugins/cache/local/house/local');
  expect(statSync(join(placed, 'hooks/greet.sh')).mode & 0o111).toBe(0o111);
  expect(await readFile(join(placed, 'RULES.md'), 'utf8')).toBe('Guests first.');
  expect(pluginFolders(declared.plugins, codex, sandbox)).toEqual([
    { name: 'house', folder: placed, mcpServers: ['cups', 'pots'] },
  ]);
  expect(pluginFolders(declared.plugins, codexCommand, sandbox)).toEqual([]);
});
