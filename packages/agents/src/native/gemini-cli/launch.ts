import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import type { McpServer } from '../../kit/declared-context.ts';
import type { McpLog } from '../../kit/mcp-failures.ts';
import { httpUrlAddress, shieldedServers } from '../../kit/mcp-settings.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Permissions } from '../../policy/permissions.ts';
import type { Access, Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ access, home, permissions, ...context }) => {
    for (const server of context.mcpServers ?? []) refuseVariables(server);
    const { mcpServers, env } = shieldedServers(context.mcpServers, httpUrlAddress);
    return {
      env: {
        ...env,
        ...ownFolders(home),
        GEMINI_CLI_HOME: home,
        ...(access.kind === 'key'
          ? { GOOGLE_GEMINI_BASE_URL: access.baseUrl, GEMINI_API_KEY: access.key }
          : access.env),
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        // Otherwise it starts itself again as a child, which signals do not reach.
        GEMINI_CLI_NO_RELAUNCH: 'true',
        ...(mcpServers && debugLog(home)),
      },
      files: {
        '.gemini/settings.json': JSON.stringify({ ...settings(access, permissions), mcpServers }, null, 2),
      },
    };
  },

  turn: ({ model, resume }) => [
    ...['--output-format', 'stream-json'],
    '--yolo',
    '--skip-trust',
    ...(model === undefined ? [] : ['--model', model]),
    ...(resume === undefined ? [] : ['--resume', resume]),
  ],
};

/** Below the home. */
const DEBUG_LOG = '.gemini/debug.log';

/** Only this log names a server that did not start. */
export const debugLog = (home: string) => ({ GEMINI_DEBUG_LOG_FILE: join(home, DEBUG_LOG) });

export const mcpLog: McpLog = {
  file: DEBUG_LOG,
  mark: '[MCP error]',
  failure: /Error during discovery for MCP server '(?<names>[^']*)': (?<why>.*)/,
};

/** Without an auth type, a base URL makes Gemini CLI choose one that it refuses without a terminal. */
const settings = ({ kind }: Access, permissions: Permissions): object => ({
  security: { auth: { selectedType: kind === 'key' ? 'gemini-api-key' : 'oauth-personal' } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  telemetry: { enabled: false },
  ...leftOut(permissions),
});

/** A tool that is left out is unknown to the model and refused to it. */
function leftOut({ filesystem, shell, network }: Permissions): object {
  const exclude = [
    ...(shell === 'off' ? ['run_shell_command'] : []),
    ...(network === 'off' ? ['web_fetch', 'google_web_search'] : []),
    ...(filesystem === 'read-only' ? ['write_file', 'replace'] : []),
  ];
  return exclude.length > 0 ? { tools: { exclude } } : {};
}

/** Gemini CLI fills in variables repeatedly in `env`, `url` and `headers`, so no variable can stand for a `$` there. */
function refuseVariables(server: McpServer): void {
  const values =
    server.kind === 'http' ? [server.url, ...Object.values(server.headers)] : Object.values(server.env);
  if (!values.some((value) => /\$[A-Za-z_{]/.test(value))) return;
  throw new WhetstoneError(
    'mcp-value-unsupported',
    `Gemini CLI would change a value of the MCP server ${server.name}: it holds a dollar sign before a name.`,
    {
      where: `mcp_servers.${server.name}`,
      hint: 'Choose another value, or start the server with a program that sets it.',
    },
  );
}
