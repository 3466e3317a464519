import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { shieldedServers, typedAddress } from '../../kit/mcp-settings.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Permissions } from '../../policy/permissions.ts';
import type { Access, Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ access, model, home, unpacked, plugins = [], ...context }) => {
    const { mcpServers, env } = shieldedServers(context.mcpServers, typedAddress);
    return {
      env: {
        ...env,
        ...ownFolders(home),
        COPILOT_HOME: join(home, '.copilot'),
        ...(access.kind === 'key' ? ownProvider(access) : ownLogin(access)),
        ...present({ COPILOT_MODEL: model }),
        COPILOT_AUTO_UPDATE: 'false',
        ...present({ COPILOT_PKG_CACHE_HOME: unpacked }),
      },
      files: mcpServers ? { '.copilot/mcp-config.json': mcpConfig(mcpServers) } : {},
      args: plugins.flatMap(({ folder }) => ['--plugin-dir', folder]),
    };
  },

  turn: ({ model, permissions, resume }) => [
    ...permissionArgs(permissions),
    ...['--output-format', 'json', ...(model === undefined ? [] : ['--model', model])],
    ...(resume === undefined ? [] : ['--resume', resume]),
  ],
};

const ownProvider = ({ baseUrl, key }: Extract<Access, { kind: 'key' }>): Record<string, string> => ({
  COPILOT_PROVIDER_BASE_URL: `${baseUrl}/v1`,
  COPILOT_PROVIDER_TYPE: 'openai',
  COPILOT_PROVIDER_API_KEY: key,
  COPILOT_OFFLINE: 'true',
});

const ownLogin = ({ baseUrl, env }: Extract<Access, { kind: 'login' }>): Record<string, string> => ({
  ...env,
  // The gateway takes no WebSockets.
  ...(baseUrl !== undefined && { COPILOT_API_URL: baseUrl, COPILOT_CLI_DISABLE_WEBSOCKET_RESPONSES: '1' }),
});

/** Without a list of tools, Copilot offers none. */
function mcpConfig(servers: Record<string, object>): string {
  const entries = Object.entries(servers).map(([name, entry]) => [name, { ...entry, tools: ['*'] }]);
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) }, null, 2);
}

/** A rule that denies comes before every rule that allows. */
function permissionArgs({ filesystem, shell, network }: Permissions): string[] {
  const denied = [
    ...(shell === 'off' ? ['shell'] : []),
    ...(network === 'off' ? ['url'] : []),
    ...(filesystem === 'read-only' ? ['write'] : []),
  ];
  return [
    ...(filesystem === 'full' && network === 'open'
      ? ['--allow-all']
      : [
          '--allow-all-tools',
          ...(filesystem === 'full' ? ['--allow-all-paths'] : ['--disallow-temp-dir']),
          ...(network === 'open' ? ['--allow-all-urls'] : []),
        ]),
    ...denied.flatMap((tool) => ['--deny-tool', tool]),
  ];
}
