import { join } from 'node:path';
import { mcpServersOf, typedAddress, withoutDollars } from '../../kit/mcp-settings.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Connection, Launch, LaunchSettings } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ baseUrl, key, model, home, ...context }) => {
    const { mcpServers, env } = withoutDollars(context.mcpServers);
    return {
      env: {
        ...env,
        ...ownFolders(home),
        ANTHROPIC_BASE_URL: baseUrl,
        ANTHROPIC_API_KEY: key,
        ANTHROPIC_MODEL: model,
        // Otherwise its side requests would name another model.
        ANTHROPIC_SMALL_FAST_MODEL: model,
        CLAUDE_CONFIG_DIR: join(home, '.claude'),
        CLAUDE_CODE_TMPDIR: join(home, '.cache/claude-tmp'),
        // As root, it refuses to skip permissions unless this variable says that it is in a sandbox.
        IS_SANDBOX: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_ERROR_REPORTING: '1',
      },
      ...contextSettings({ home, mcpServers, plugins: context.plugins ?? [] }),
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
 * Only these servers: Claude Code does not read the repository's `.mcp.json`. With plugins it does read that file,
 * because the flag that prevents this would also keep out the plugins' servers.
 */
function contextSettings({
  home,
  mcpServers: servers,
  plugins,
}: Required<Pick<Connection, 'home' | 'mcpServers' | 'plugins'>>): Pick<LaunchSettings, 'files' | 'args'> {
  const mcpServers = mcpServersOf(servers, typedAddress);
  return {
    files: mcpServers ? { [MCP_FILE]: JSON.stringify({ mcpServers }, null, 2) } : {},
    args: [
      ...(mcpServers ? ['--mcp-config', join(home, MCP_FILE)] : []),
      ...(mcpServers && plugins.length === 0 ? ['--strict-mcp-config'] : []),
      ...plugins.flatMap(({ folder }) => ['--plugin-dir', folder]),
    ],
  };
}
