import { join } from 'node:path';
import { mcpServersOf, withoutDollars } from '../../kit/mcp-settings.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Connection, Launch, LaunchSettings } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ baseUrl, key, model, home, ...given }) => {
    const { mcpServers, env } = withoutDollars(given.mcpServers);
    return {
      env: {
        ...env,
        ...ownFolders(home),
        ANTHROPIC_BASE_URL: baseUrl,
        ANTHROPIC_API_KEY: key,
        ANTHROPIC_MODEL: model,
        // For its side requests, which would else name another model.
        ANTHROPIC_SMALL_FAST_MODEL: model,
        CLAUDE_CONFIG_DIR: join(home, '.claude'),
        CLAUDE_CODE_TMPDIR: join(home, '.cache/claude-tmp'),
        // As root it refuses to skip permissions where nothing says that it is in a sandbox.
        IS_SANDBOX: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_ERROR_REPORTING: '1',
      },
      ...contextSettings({ home, mcpServers, plugins: given.plugins ?? [] }),
    };
  },

  turn: ({ prompt, model, resume, outputSchema }) => ({
    args: [
      '--print',
      ...['--output-format', 'stream-json', '--verbose'],
      '--dangerously-skip-permissions',
      ...['--model', model],
      ...(outputSchema ? ['--json-schema', outputSchema.text] : []),
      ...(resume === undefined ? [] : ['--resume', resume]),
    ],
    stdin: prompt,
  }),
};

const MCP_FILE = '.claude/mcp.json';

/**
 * Those servers and no others: an `.mcp.json` of the repository is not read beside them. With plugins it is, as nothing
 * keeps it out that would let in the servers of a plugin.
 */
function contextSettings({
  home,
  mcpServers: servers,
  plugins,
}: Required<Pick<Connection, 'home' | 'mcpServers' | 'plugins'>>): Pick<LaunchSettings, 'files' | 'args'> {
  const mcpServers = mcpServersOf(servers, ({ url, headers }) => ({ type: 'http', url, headers }));
  return {
    files: mcpServers ? { [MCP_FILE]: JSON.stringify({ mcpServers }, null, 2) } : {},
    args: [
      ...(mcpServers ? ['--mcp-config', join(home, MCP_FILE)] : []),
      ...(mcpServers && plugins.length === 0 ? ['--strict-mcp-config'] : []),
      ...plugins.flatMap(({ folder }) => ['--plugin-dir', folder]),
    ],
  };
}
