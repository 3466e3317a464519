import { describe, expect, test } from 'vitest';
import { connection } from './__fixtures__/connection.ts';
import { drivenAgentKinds, drivenAgents } from './native-agents.ts';

const plugins = ['/scratch/home/p/tea house', '/scratch/home/p/two'].map((folder, index) => ({
  name: `plugin-${index}`,
  folder,
}));
const [first, second] = plugins.map(({ folder }) => folder);

describe.each(drivenAgentKinds)('%s', (kind) => {
  test('without plugins, the settings do not mention plugins', () => {
    const { settings } = drivenAgents[kind].launch;
    expect(settings({ ...connection, plugins: [] })).toEqual(settings(connection));
    expect(JSON.stringify(settings(connection))).not.toMatch(/plugin-|\/p\//);
  });
});

test('the settings with plugins of each agent (golden)', () => {
  const of = (kind: (typeof drivenAgentKinds)[number]) =>
    drivenAgents[kind].launch.settings({ ...connection, plugins });
  for (const [kind, option] of [
    ['claude-code', '--plugin-dir'],
    ['copilot', '--plugin-dir'],
    ['pi', '--extension'],
  ] as const) {
    expect(of(kind).args).toEqual([option, first, option, second]);
  }
  expect(JSON.parse(of('opencode-cli').env.OPENCODE_CONFIG_CONTENT ?? '').plugin).toEqual([
    'file:///scratch/home/p/tea%20house',
    'file:///scratch/home/p/two',
  ]);
  const { files } = of('codex-cli');
  expect(files['.codex/config.toml']?.split('[features]\n')[1]).toBe(
    'plugins = true\n\n[plugins."plugin-0@local"]\nenabled = true\n\n[plugins."plugin-1@local"]\nenabled = true\n',
  );
  expect(Object.keys(files)).toContain('.codex/.tmp/plugins.sync.lock/README');
  // These agents search their folder of extensions.
  for (const kind of ['gemini-cli', 'qwen-code'] as const) {
    expect(of(kind)).toEqual(drivenAgents[kind].launch.settings(connection));
  }
});

test('Claude Code starts only the servers of its variant, unless it has plugins', () => {
  const mcpServers = [{ kind: 'http' as const, name: 'remote', url: 'https://example.com/mcp', headers: {} }];
  const { settings } = drivenAgents['claude-code'].launch;
  expect(settings({ ...connection, mcpServers }).args).toContain('--strict-mcp-config');
  expect(settings({ ...connection, mcpServers, plugins }).args).not.toContain('--strict-mcp-config');
});
