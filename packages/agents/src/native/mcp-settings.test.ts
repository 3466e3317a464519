// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the agents' settings
import { describe, expect, test } from 'vitest';
import type { McpServer } from '../kit/declared-context.ts';
import { connection } from './__fixtures__/connection.ts';
import { drivenAgentKinds, drivenAgents } from './native-agents.ts';

const mcpServers: readonly McpServer[] = [
  { kind: 'command', name: 'glossary', command: 'node', args: ['a "b"', '\\'], env: { EDITION: 'second' } },
  { kind: 'http', name: 'remote', url: 'https://example.com/mcp', headers: { 'X-Key': 'k' } },
];

describe.each(drivenAgentKinds)('%s', (kind) => {
  const { settings } = drivenAgents[kind].launch;

  test('without servers, the settings do not mention MCP', () => {
    expect(settings({ ...connection, mcpServers: [] })).toEqual(settings(connection));
    expect(JSON.stringify(settings(connection))).not.toMatch(/mcp/i);
  });

  test('takes servers if the table of facts says so', () => {
    const written = JSON.stringify(settings({ ...connection, mcpServers }));
    expect(written.includes('glossary')).toBe(drivenAgents[kind].facts.mcpServers);
    expect(written.includes('https://example.com/mcp')).toBe(drivenAgents[kind].facts.mcpServers);
  });
});

const command = { command: 'node', args: ['a "b"', '\\'], env: { EDITION: 'second' } };
const url = 'https://example.com/mcp';
const headers = { 'X-Key': 'k' };

test('a dollar sign in a value reaches the server unchanged, even if the agent fills in variables', () => {
  const [glossary] = mcpServers;
  if (glossary?.kind !== 'command') throw new Error('the fixture has a command');
  const servers: McpServer[] = [{ ...glossary, args: ['$HOME'], env: { EDITION: '${PATH}', PLAIN: 'x' } }];
  expect(() => drivenAgents['gemini-cli'].launch.settings({ ...connection, mcpServers: servers })).toThrow(
    expect.objectContaining({ code: 'mcp-value-unsupported', exitCode: 2 }),
  );
  for (const kind of ['claude-code', 'qwen-code', 'copilot'] as const) {
    const { env, files } = drivenAgents[kind].launch.settings({ ...connection, mcpServers: servers });
    expect(env).toMatchObject({ WHETSTONE_VALUE_1: '$HOME', WHETSTONE_VALUE_2: '${PATH}' });
    const text = Object.values(files).find((content) => content.includes('glossary')) ?? '';
    expect(JSON.parse(text).mcpServers.glossary).toMatchObject({
      command: 'node',
      args: ['${WHETSTONE_VALUE_1}'],
      env: { EDITION: '${WHETSTONE_VALUE_2}', PLAIN: 'x' },
    });
  }
});

test('the settings with servers of each agent (golden)', () => {
  const of = (kind: (typeof drivenAgentKinds)[number]) =>
    drivenAgents[kind].launch.settings({ ...connection, mcpServers });
  const json = (text: string | undefined) => JSON.parse(text ?? '');
  expect(of('claude-code').args).toEqual([
    '--mcp-config',
    '/scratch/home/.claude/mcp.json',
    '--strict-mcp-config',
  ]);
  expect(json(of('claude-code').files['.claude/mcp.json'])).toEqual({
    mcpServers: { glossary: command, remote: { type: 'http', url, headers } },
  });
  for (const [kind, file] of [
    ['gemini-cli', '.gemini/settings.json'],
    ['qwen-code', '.qwen/settings.json'],
  ] as const) {
    expect(json(of(kind).files[file]).mcpServers).toEqual({
      glossary: command,
      remote: { httpUrl: url, headers },
    });
  }
  expect(json(of('copilot').files['.copilot/mcp-config.json'])).toEqual({
    mcpServers: {
      glossary: { ...command, tools: ['*'] },
      remote: { type: 'http', url, headers, tools: ['*'] },
    },
  });
  expect(json(of('opencode-cli').env.OPENCODE_CONFIG_CONTENT).mcp).toEqual({
    glossary: { type: 'local', command: ['node', ...command.args], environment: command.env, enabled: true },
    remote: { type: 'remote', url, headers, enabled: true },
  });
  expect(of('codex-cli').files['.codex/config.toml']?.split('[mcp_servers')).toEqual([
    expect.stringContaining('model_provider = "gateway"'),
    `.glossary]\ncommand = "node"\nargs = ["a \\"b\\"","\\\\"]\nenv = { "EDITION" = "second" }\n\n`,
    `.remote]\nurl = "https://example.com/mcp"\nhttp_headers = { "X-Key" = "k" }\n`,
  ]);
});
