import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { shieldedServers, typedAddress } from '../../kit/mcp-settings.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Permissions } from '../../policy/permissions.ts';
import type { Launch } from '../native-agent.ts';

/** Below the home. */
export const MCP_FILE = '.claude/mcp.json';

/** MCP servers are those of plugins and of `--mcp-config`. `--strict-mcp-config` would keep those of plugins off, too. */
export const NO_SERVERS_OF_REPOSITORY = { strictPluginOnlyCustomization: ['mcp'] };

export const launch: Launch = {
  settings: ({ access, model, home, plugins = [], permissions: { apps }, ...context }) => {
    const { mcpServers, env } = shieldedServers(context.mcpServers, typedAddress);
    return {
      env: {
        ...env,
        ...ownFolders(home),
        ...present({ ANTHROPIC_BASE_URL: access.baseUrl }),
        ...(access.kind === 'key' ? { ANTHROPIC_API_KEY: access.key } : access.env),
        // Otherwise its side requests would name another model.
        ...present({ ANTHROPIC_MODEL: model, ANTHROPIC_SMALL_FAST_MODEL: model }),
        // Connectors of the account behind a login.
        ...(apps === 'off' && { ENABLE_CLAUDEAI_MCP_SERVERS: 'false' }),
        CLAUDE_CONFIG_DIR: join(home, '.claude'),
        CLAUDE_CODE_TMPDIR: join(home, '.cache/claude-tmp'),
        // As root, it refuses to skip permissions unless this variable says that it is in a sandbox.
        IS_SANDBOX: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_ERROR_REPORTING: '1',
      },
      files: mcpServers ? { [MCP_FILE]: JSON.stringify({ mcpServers }, null, 2) } : {},
      args: [
        ...(mcpServers ? ['--mcp-config', join(home, MCP_FILE)] : []),
        // Otherwise Claude Code also starts what the repository's `.mcp.json` names.
        ...(mcpServers || apps === 'off' ? onlyGivenServers(plugins.length > 0) : []),
        ...plugins.flatMap(({ folder }) => ['--plugin-dir', folder]),
      ],
    };
  },

  turn: ({ model, resume, permissions, outputSchema }) => [
    '--print',
    // The text of a message that is cut off is only in its parts.
    ...['--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
    ...permissionArgs(permissions),
    ...(model === undefined ? [] : ['--model', model]),
    ...(outputSchema ? ['--json-schema', outputSchema.text] : []),
    ...(resume === undefined ? [] : ['--resume', resume]),
  ],
};

const onlyGivenServers = (hasPlugins: boolean): string[] =>
  hasPlugins ? ['--managed-settings', JSON.stringify(NO_SERVERS_OF_REPOSITORY)] : ['--strict-mcp-config'];

const RUNS_COMMANDS = ['Bash', 'PowerShell', 'Monitor', 'Workflow'];
const USES_NETWORK = ['WebFetch', 'WebSearch'];
const WRITES_FILES = ['Edit', 'Write', 'NotebookEdit'];

/** `--restricted` confines the file tools to the workspace, which skipping the permissions would lift. */
function permissionArgs({ filesystem, shell, network }: Permissions): string[] {
  const left = [
    ...(shell === 'off' ? RUNS_COMMANDS : []),
    ...(network === 'off' ? USES_NETWORK : []),
    ...(filesystem === 'read-only' ? WRITES_FILES : []),
  ];
  return [
    ...(filesystem === 'full'
      ? ['--dangerously-skip-permissions']
      : ['--restricted', '--permission-mode', filesystem === 'workspace' ? 'acceptEdits' : 'dontAsk']),
    ...(left.length > 0 ? ['--disallowedTools', left.join(',')] : []),
  ];
}
