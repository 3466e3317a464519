// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the config
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type AgentConfig,
  type AgentKind,
  agentKinds,
  contextPlacesOf,
  drivenAgentKinds,
  drivenAgents,
  loopFacts,
  manifestsOf,
} from '@whetstone/agents/config';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ConfigErrors } from './diagnostic.ts';
import { loadConfig } from './load-config.ts';

let folder: string;
const folders: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'context-'));
  folders.push(folder);
  mkdirSync(join(folder, 'repo'));
  write('tasks.yaml', 'tasks:\n  - {id: one, prompt: Do it}\n');
  write('tea/SKILL.md', '---\nname: brew-tea\ndescription: Brews tea.\n---\nBoil water.\n');
  write('server.mjs', 'process.exit();\n');
});
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

type Agent = Record<string, unknown>;
const CODEX: Agent = { kind: 'codex-cli' };

function load(variant: Record<string, unknown>, agents: Record<string, Agent> = { codex: CODEX }) {
  write('whetstone.yaml', stringify({ repo: { path: 'repo' }, agents, variants: { v: variant } }));
  return loadConfig('whetstone.yaml', { cwd: folder });
}

async function problems(variant: Record<string, unknown>, agents?: Record<string, Agent>): Promise<string[]> {
  const failure: unknown = await load(variant, agents).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof ConfigErrors)) throw new Error('nothing was wrong', { cause: failure });
  return failure.diagnostics.map(({ line, path, message, hint }) => {
    expect(line).toBeGreaterThan(1);
    return `${path}: ${message}${hint === undefined ? '' : ` (${hint})`}`.replaceAll(folder, '');
  });
}

test('a variant declares instructions, skills and servers', async () => {
  write('rules.md', 'Be kind.\n');
  const { config } = await load({
    instructions: 'rules.md',
    skills: ['tea'],
    mcp_servers: {
      glossary: { command: 'node', args: ['./server.mjs', '--port', '7'], env: { KEY: '${KEY}', LEVEL: 2 } },
      remote: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
    },
  });
  expect(config.variants).toEqual([
    {
      name: 'v',
      description: '',
      overlays: [],
      instructions: { file: join(folder, 'rules.md'), mode: 'append' },
      skills: [{ name: 'brew-tea', description: 'Brews tea.', source: join(folder, 'tea') }],
      mcpServers: [
        {
          kind: 'command',
          name: 'glossary',
          command: 'node',
          args: [{ file: join(folder, 'server.mjs') }, '--port', '7'],
          env: { KEY: '${KEY}', LEVEL: '2' },
        },
        {
          kind: 'http',
          name: 'remote',
          url: 'https://example.com/mcp',
          headers: { Authorization: 'Bearer ${TOKEN}' },
        },
      ],
    },
  ]);
});

test('instructions of more than one line are the text itself', async () => {
  const { config } = await load({ instructions: 'Be kind.\nBe brief.\n' });
  expect(config.variants[0]?.instructions).toEqual({ text: 'Be kind.\nBe brief.\n', mode: 'append' });
});

test('instructions say whether they replace those of the repository', async () => {
  write('rules.md', 'Be kind.\n');
  const read = async (instructions: object) =>
    (await load({ instructions })).config.variants[0]?.instructions;
  const file = join(folder, 'rules.md');
  expect(await read({ file: 'rules.md', mode: 'replace' })).toEqual({ file, mode: 'replace' });
  expect(await read({ file: 'rules.md' })).toEqual({ file, mode: 'append' });
  expect(await read({ text: 'Be brief.', mode: 'replace' })).toEqual({ text: 'Be brief.', mode: 'replace' });
  expect(await problems({ instructions: { text: 'Be brief.', file: 'rules.md' } })).toEqual([
    'variants.v.instructions: instructions need either text or file',
  ]);
  expect(await problems({ instructions: { text: 'Be brief.', mode: 'prepend' } })).toEqual([
    expect.stringMatching(/^variants\.v\.instructions.*append/),
  ]);
});

test('a value that cannot be used is reported with its place', async () => {
  write('empty.md', ' \n');
  write('plain/SKILL.md', 'No front matter.\n');
  write('odd/SKILL.md', '---\nname: Odd Name\ndescription: x\n---\n');
  write('twin/SKILL.md', '---\nname: brew-tea\ndescription: Another.\n---\n');
  write('linked/SKILL.md', '---\nname: linked\ndescription: x\n---\n');
  symlinkSync('SKILL.md', join(folder, 'linked/other.md'));
  const form = (name: string) =>
    `(start /${name}/SKILL.md with a front matter: name: and description: between two lines of ---)`;
  expect(
    await problems({ instructions: 'empty.md', skills: ['tea', 'plain', 'odd', 'twin', 'repo', 'linked'] }),
  ).toEqual([
    'variants.v.instructions: is empty, or cannot be read: /empty.md',
    `variants.v.skills[1]: its SKILL.md has no name ${form('plain')}`,
    `variants.v.skills[1]: its SKILL.md has no description ${form('plain')}`,
    `variants.v.skills[2]: its SKILL.md has a name that is not of the form lower-case-words ${form('odd')}`,
    'variants.v.skills[3]: this variant has another skill named brew-tea',
    'variants.v.skills[4]: has no SKILL.md: /repo (name the folder of one skill)',
    'variants.v.skills[5]: other.md is a symlink; a skill is copied and may contain only files',
  ]);
  expect(
    await problems({
      mcp_servers: {
        a__b: { command: 'x' },
        both: { command: 'x', url: 'https://example.com' },
        neither: {},
        mixed: { command: './missing.mjs', headers: { A: 'b' } },
        loud: { url: 'https://example.com', headers: { 'A B': 'c', D: '${' } },
        env: { command: 'x', env: { 'A-B': 'c' } },
      },
    }),
  ).toEqual([
    'variants.v.mcp_servers.a__b: a server name must start with a letter and consist of letters and digits, joined by single - or _',
    'variants.v.mcp_servers.both: a server needs either command (with args and env) or url (with headers)',
    'variants.v.mcp_servers.neither: a server needs either command (with args and env) or url (with headers)',
    'variants.v.mcp_servers.mixed.command: does not exist: /missing.mjs (relative paths start at )',
    'variants.v.mcp_servers.mixed.headers: cannot be used together with command',
    'variants.v.mcp_servers.loud.headers["A B"]: is not a valid header name',
    'variants.v.mcp_servers.loud.headers.D: has a ${ without a closing }',
    'variants.v.mcp_servers.env.env.A-B: is not a valid name for an environment variable',
  ]);
});

test('an agent that cannot be given something is named, with what to do', async () => {
  const everything = { instructions: 'Be\nkind.', skills: ['tea'], mcp_servers: { x: { command: 'x' } } };
  const agents = {
    codex: CODEX,
    mine: { kind: 'custom', command: 'run' },
    own: { kind: 'codex-cli', command: 'codex exec' },
    loop: { kind: 'loop', profile: 'openai' },
    pi: { kind: 'pi' },
  };
  const placing = (key: string) =>
    `(set \`context: { ${key}: … }\` of the agent to the place where it looks, move such agents to a separate configuration, or remove the key)`;
  const commands = 'mine (kind: custom with a command), own (kind: codex-cli with a command)';
  expect(await problems(everything, agents)).toEqual([
    `variants.v.skills: mine (kind: custom with a command) cannot be given skills ${placing('skills')}`,
    `variants.v.mcp_servers: ${commands}, pi (kind: pi) cannot be given MCP servers ${placing('mcp_servers')}`,
  ]);
});

test('instructions for an agent that reads nothing of its workspace are refused', async () => {
  const sdk = (sources: string[]) => ({
    claude: { kind: 'anthropic:claude-agent-sdk', options: { setting_sources: sources } },
  });
  expect(await problems({ instructions: 'Be\nkind.' }, sdk([]))).toEqual([
    'variants.v.instructions: claude (kind: claude-agent-sdk) reads no instructions in its workspace (its page names the option with which it does: docs/agents)',
  ]);
  const { config } = await load({ instructions: 'Be\nkind.' }, sdk(['project']));
  expect(config.agents[0]?.kind).toBe('claude-agent-sdk');
});

test('a plugin is recognized by the manifests of its agents, and named after the first', async () => {
  write('house/.claude-plugin/plugin.json', '{"name":"tea-house","version":"1.2.0","description":"Tea."}');
  write('house/gemini-extension.json', '{"name":"tea-house","version":"9"}');
  write('house/package.json', '{"name":"@office/tea","pi":{}}');
  const { config } = await load(
    { plugins: ['house'] },
    { codex: CODEX, pi: { kind: 'pi' }, gemini: { kind: 'gemini-cli' } },
  );
  expect(config.variants[0]?.plugins).toEqual([
    {
      name: 'tea-house',
      version: '1.2.0',
      description: 'Tea.',
      source: join(folder, 'house'),
      kinds: [
        'codex-cli',
        'codex-app-server',
        'claude-code',
        'gemini-cli',
        'pi',
        'copilot',
        'codex-sdk',
        'claude-agent-sdk',
      ],
    },
  ]);
});

test('a package is a plugin if it has a part for an agent, and keeps its own name', async () => {
  write('module/package.json', '{"name":"@office/tea-house","exports":{"./server":"./server.js"}}');
  const { config } = await load({ plugins: ['module'] }, { opencode: { kind: 'opencode-cli' } });
  expect(config.variants[0]?.plugins).toMatchObject([
    { name: 'tea-house', kinds: ['opencode-cli', 'opencode-sdk'] },
  ]);
});

test('a folder that is not a plugin, or not for an agent, is reported', async () => {
  write('house/.codex-plugin/plugin.json', '{"name":"tea-house"}');
  write('twin/.claude-plugin/plugin.json', '{"name":"tea-house"}');
  write('package/package.json', '{"name":"plain"}');
  write('broken/.claude-plugin/plugin.json', '{"name":');
  write('list/gemini-extension.json', '[]');
  write('nameless/.codex-plugin/plugin.json', '{"version":"1"}');
  write('odd/.codex-plugin/plugin.json', '{"name":"../up"}');
  write('two/.codex-plugin/plugin.json', '{"name":"one"}');
  write('two/qwen-extension.json', '{"name":"other"}');
  write('linked/.codex-plugin/plugin.json', '{"name":"linked"}');
  symlinkSync('/etc/passwd', join(folder, 'linked/notes'));
  const plugins = ['house', 'twin', 'package', 'broken', 'list', 'nameless', 'odd', 'two', 'linked', 'gone'];
  const found = await problems({ plugins });
  expect(found[1]).toMatch(
    /^variants\.v\.plugins\[2\]: has no plugin manifest that an agent reads: \/package \(looked for: .*package\.json\)$/,
  );
  expect(found[2]).toMatch(/^variants\.v\.plugins\[3\]: its \.claude-plugin\/plugin\.json is not JSON: /);
  const named = 'needs a name of at most 64 letters and digits, joined by single - or _';
  expect(found.filter((_, index) => index !== 1 && index !== 2)).toEqual([
    'variants.v.plugins[1]: this variant has another plugin named tea-house',
    'variants.v.plugins[4]: its gemini-extension.json is not a JSON object',
    `variants.v.plugins[5]: its .codex-plugin/plugin.json ${named}`,
    `variants.v.plugins[6]: its .codex-plugin/plugin.json ${named}`,
    'variants.v.plugins[7]: the names in its qwen-extension.json and its .codex-plugin/plugin.json differ',
    'variants.v.plugins[8]: notes is a symlink; a plugin is copied and may contain only files',
    'variants.v.plugins[9]: does not exist: /gone (relative paths start at )',
  ]);
  const agents = { loop: { kind: 'loop', profile: 'openai' }, pi: { kind: 'pi' }, codex: CODEX };
  expect(await problems({ plugins: ['house'] }, agents)).toEqual([
    'variants.v.plugins: loop (kind: loop) cannot be given plugins (move such agents to a separate configuration, or remove the key)',
    'variants.v.plugins[0]: has no manifest for pi (kind: pi), so that agent would not load it (add package.json (with pi))',
  ]);
});

test('every kind has a file for instructions', () => {
  const commandOf = (kind: AgentKind) =>
    ({ kind, runner: 'command', command: { kind: 'argv', argv: ['x'] } }) as unknown as AgentConfig;
  const kinds = agentKinds.filter((kind) => kind !== 'loop');
  expect(
    Object.fromEntries(kinds.map((kind) => [kind, contextPlacesOf(commandOf(kind)).instructions])),
  ).toEqual({
    'codex-cli': 'AGENTS.md',
    'codex-app-server': 'AGENTS.md',
    'claude-code': 'CLAUDE.md',
    'gemini-cli': 'GEMINI.md',
    'qwen-code': 'QWEN.md',
    'opencode-cli': 'AGENTS.md',
    pi: 'AGENTS.md',
    copilot: 'AGENTS.md',
    'codex-sdk': 'AGENTS.md',
    'claude-agent-sdk': 'CLAUDE.md',
    'opencode-sdk': 'AGENTS.md',
    traecli: 'AGENTS.md',
    coco: 'AGENTS.md',
    bub: 'AGENTS.md',
    acp: 'AGENTS.md',
    custom: 'AGENTS.md',
  });
  expect(contextPlacesOf(commandOf('claude-code'))).toMatchObject({
    instructions: 'CLAUDE.md',
    skills: '.claude/skills',
    mcpServers: false,
  });
});

test('the table in the documentation matches the configuration', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../docs/context.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `(\S+)` +\| `(\S+)` +\| `~\/(\S+)` +\| (\S+) +\| (\S+) +\|$/gm)];
  const documented = rows.map(([, kind = '', instructions, skills, servers, plugins]) => [
    kind,
    { instructions, skills, mcpServers: servers !== 'no', takesPlugins: plugins !== 'no' },
  ]);
  const facts = [
    ...Object.values(drivenAgents).map(({ kind, facts }) => [kind, facts] as const),
    ['loop', loopFacts] as const,
  ];
  const known = facts.map(([kind, { instructions, skills, mcpServers, plugins }]) => [
    kind,
    { instructions, skills, mcpServers, takesPlugins: plugins !== undefined },
  ]);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(known));
  for (const kind of drivenAgentKinds) {
    const manifests = new RegExp(`^ +\\| \`${kind}\` +\\| (.+?) +\\|$`, 'm').exec(text)?.[1];
    expect(manifests?.replaceAll('`', '')).toBe(manifestsOf(kind));
  }
});
