// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the config
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DrivenAgentKind,
  drivenAgentKinds,
  drivenAgents,
  instructionsRead,
} from '@whetstone/agents/config';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KNOWN_MODELS, mayRunCommands, quickStart } from '../../../../examples/real-agents/drive-agent.ts';
import type { CaseRow } from '../record/row.ts';
import { commitAll } from '../workspace/__fixtures__/test-repo.ts';
import { startProxy } from './__fixtures__/context/proxy.ts';
import { startRemote } from './__fixtures__/context/remote.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

/** Where `examples/real-agents/install.ts` puts the agents. */
const cache = join(import.meta.dirname, '../../../../.cache');
const fixtures = join(import.meta.dirname, '__fixtures__/context');

/** With its default model Codex names its MCP tools, and offers them only to a search that runs at the provider. */
const models: Record<DrivenAgentKind, string> = {
  ...KNOWN_MODELS,
  'codex-cli': 'gpt-5.1',
  'codex-app-server': 'gpt-5.1',
  'codex-sdk': 'gpt-5.1',
};

const RULES = '# Rules\n\nEvery cup is warmed before the tea goes into it.\n';
/** Some agents fill in variables themselves; here there are none for them. */
const DOLLARS = { EDITION: 'se$HOME${HOME}cond', USER_OF_IT: '$our$' };
/** Gemini CLI cannot be kept from it. */
const PLAIN = { EDITION: 'second', USER_OF_IT: 'ours' };

const glossary = {
  command: process.execPath,
  args: [join(fixtures, 'glossary.ts')],
  env: { EDITION: '${EDITION}' },
};

/** What the tool of the plugin's server answers. */
const CUPS = 'There are seven cups.';

type FoundCase = { row: CaseRow; events: string };

type RunSettings = {
  /** The user's environment. */
  values?: Readonly<Record<string, string>>;
  /** The agents' own. */
  env?: Readonly<Record<string, string>>;
  script?: string;
};

/** The cases of a run of these kinds, all in one variant. */
async function run(
  project: Project,
  kinds: readonly DrivenAgentKind[],
  variant: object,
  { values = {}, env = {}, script = 'context/script.mjs' }: RunSettings = {},
): Promise<FoundCase[]> {
  cpSync(fixtures, join(project.root, 'context'), { recursive: true });
  project.writeConfig({
    agents: Object.fromEntries(
      kinds.map((kind) => [
        kind,
        {
          ...{ kind, model: models[kind], timeout_minutes: 2, ...mayRunCommands(kind) },
          env: { ...quickStart, ...env },
        },
      ]),
    ),
    variants: { with: variant },
    gateway: { mode: 'script', script },
  });
  const { stderr } = await project.whetstone(['run'], { XDG_CACHE_HOME: cache, ...values });
  expect(project.runDirectories().length, stderr).toBeGreaterThan(0);
  const { rows, directory } = project.latest();
  expect(rows.map(({ agent_kind: kind }) => kind)).toEqual(kinds);
  return rows.map((row) => {
    const events = readFileSync(join(directory, 'cases', row.case_id, 'events.jsonl'), 'utf8');
    return { row, events };
  });
}

describe('what a variant declares reaches each released agent', () => {
  let project: Project;
  let remote: Awaited<ReturnType<typeof startRemote>>;
  const cases = new Map<string, FoundCase>();
  beforeAll(async () => {
    remote = await startRemote();
    project = makeProject({
      files: { 'README.md': 'Tea.\n', 'AGENTS.md': 'Old rules.\n' },
      tasks: [{ id: 'one', prompt: 'Make tea.' }],
    });
    const context = { instructions: RULES, skills: ['context/brew-tea'] };
    const servers = { glossary, remote: { url: remote.url, headers: { 'X-Key': 'key of ${USER_OF_IT}' } } };
    const served = { ...context, mcp_servers: servers };
    const withServers = drivenAgentKinds.filter(
      (kind) => drivenAgents[kind].facts.mcpServers && kind !== 'gemini-cli',
    );
    const without = drivenAgentKinds.filter((kind) => !drivenAgents[kind].facts.mcpServers);
    for (const found of [
      ...(await run(project, withServers, served, { values: DOLLARS })),
      ...(await run(project, ['gemini-cli'], served, { values: PLAIN })),
      ...(await run(project, without, context)),
    ]) {
      cases.set(found.row.agent_kind, found);
    }
  });
  afterAll(() => {
    project[Symbol.dispose]();
    remote[Symbol.dispose]();
  });

  test.each(drivenAgentKinds)('%s', (kind) => {
    const { row, events } = cases.get(kind) ?? {};
    expect(row).toMatchObject({ outcome: 'passed', changed_files: 0 });
    const used = { first: expect.any(Object), tokens_estimate: expect.any(Number) };
    const { mcpServers, instructions, reads = [] } = drivenAgents[kind].facts;
    const [path = instructions] = instructionsRead(reads, new Set(['AGENTS.md']));
    expect(row?.exposure).toMatchObject({
      instructions: { path, in_requests: 'whole', first_call: expect.any(String) },
      skills: [{ name: 'brew-tea', listed: true, triggered: 'confirmed', ...used }],
      mcp_servers: mcpServers
        ? [
            { name: 'glossary', offered: true, calls: 1, failures: 0, ...used },
            { name: 'remote', offered: true, calls: 0 },
          ]
        : [],
    });
    // Those of the repository stay, whatever the agent reads.
    expect(row?.instruction_files).toContainEqual({ path, in_first_request: 'whole' });
    const old = { path: 'AGENTS.md', in_first_request: path === 'AGENTS.md' ? 'whole' : 'no' };
    expect(row?.instruction_files).toContainEqual(old);
    expect(row?.exposure?.skills[0]?.tokens_estimate).toBeGreaterThan(15);
    if (!mcpServers) return;
    expect(row?.exposure?.mcp_servers[0]?.tokens_estimate).toBeGreaterThan(10);
    // However the agent names it.
    expect(events).toContain('"name":"mcp__glossary__lookup"');
    // The value came from the environment: it is a secret, and only masked whole where it arrived as it is.
    expect(events).toContain('zebra: see the [masked] edition');
  });

  test('a server with an address gets its headers', () => {
    expect([...remote.keys]).toEqual(['key of $our$', 'key of ours']);
  });
});

describe('a plugin that a variant declares is loaded by each released agent that takes one', () => {
  const kinds = drivenAgentKinds.filter((kind) => drivenAgents[kind].facts.plugins !== undefined);
  const variant = { plugins: ['context/tea-house'] };
  const script = 'context/plugin-script.mjs';
  let project: Project;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let cases: ReadonlyMap<string, FoundCase>;
  beforeAll(async () => {
    project = makeProject({
      files: { 'README.md': 'Tea.\n' },
      tasks: [{ id: 'one', prompt: 'Pour tea.' }],
    });
    proxy = await startProxy();
    const env = { HTTPS_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
    const found = await run(project, kinds, variant, { env, script });
    cases = new Map(found.map((one) => [one.row.agent_kind, one]));
  });
  afterAll(() => {
    project[Symbol.dispose]();
    proxy[Symbol.dispose]();
  });

  test.each(kinds)('%s', (kind) => {
    const { row, events } = cases.get(kind) ?? {};
    expect(row).toMatchObject({ outcome: 'passed', changed_files: 0 });
    const used = { first: expect.any(Object), tokens_estimate: expect.any(Number) };
    expect(row?.exposure?.plugins).toEqual([
      {
        name: 'tea-house',
        version: '1.2.0',
        loaded: true,
        skills: [{ name: 'pour-tea', listed: true, triggered: 'confirmed', ...used }],
      },
    ]);
    // OpenCode's module and pi's package bring only the skill.
    if (!kind.startsWith('opencode-') && kind !== 'pi') expect(events).toContain(CUPS);
    if (kind === 'claude-code') expect(events).toContain('"plugins":["tea-house"]');
  });

  test('and asks no server for more', () => {
    expect([...proxy.asked]).toEqual([]);
  });

  test('Claude Code starts the servers of a plugin and of the variant, and none of the repository', async () => {
    const mark = join(project.root, 'started.mark');
    const mcpServers = { repository: { command: 'touch', args: [mark] } };
    commitAll(project.repo, { '.mcp.json': JSON.stringify({ mcpServers }) });
    const served = { ...variant, mcp_servers: { glossary: { ...glossary, env: {} } } };
    for (const { row, events } of await run(project, ['claude-code', 'claude-agent-sdk'], served, {
      script,
    })) {
      expect(row.exposure?.mcp_servers).toMatchObject([{ name: 'glossary', offered: true }]);
      expect(events).toContain(CUPS);
    }
    expect(existsSync(mark)).toBe(false);
  });
});
