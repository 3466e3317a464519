import { join } from 'node:path';
import type { McpServer } from '../../kit/declared-context.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Permissions } from '../../policy/permissions.ts';
import type { Access, Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ access, model, home, mcpServers = [], plugins = [] }) => ({
    env: {
      ...ownFolders(home),
      CODEX_HOME: join(home, '.codex'),
      // `exec` logs errors only, and a server that did not start is a warning (`mcpLog`).
      ...(mcpServers.length > 0 && { RUST_LOG: 'error,codex_mcp=warn' }),
      ...(access.kind === 'key' ? { WHETSTONE_GATEWAY_KEY: access.key } : access.env),
    },
    files: {
      '.codex/config.toml': [
        mcpServers.length + plugins.length > 0 ? WAITING_FOR_SERVERS : '',
        configuration(access, model, plugins.length > 0),
        ...mcpServers.map(serverTable),
        ...plugins.map(({ name }) => `\n[plugins."${name}@local"]\nenabled = true\n`),
      ].join(''),
      ...(plugins.length > 0 && withoutSync),
    },
  }),

  // `-` makes Codex read the prompt from standard input.
  turn({ model, workingDirectory, permissions, resume, outputSchema }) {
    const options = ['--json', '--skip-git-repo-check', ...sandboxOptions(permissions)];
    const modelAndFolder = [...(model === undefined ? [] : ['--model', model]), '-C', workingDirectory];
    const answer = outputSchema ? ['--output-schema', outputSchema.file] : [];
    const session = resume === undefined ? ['-'] : ['resume', resume, '-'];
    return ['exec', ...options, ...modelAndFolder, ...answer, ...session];
  },
};

/** Codex's own sandbox confines commands and patches. `exec` asks nothing. */
function sandboxOptions({ filesystem, shell, network, apps }: Permissions): string[] {
  const mode = filesystem === 'read-only' ? 'read-only' : 'workspace-write';
  return [
    ...(filesystem === 'full'
      ? ['--dangerously-bypass-approvals-and-sandbox']
      : [
          '--sandbox',
          mode,
          '-c',
          `sandbox_workspace_write.network_access=${network === 'open'}`,
          '-c',
          'sandbox_workspace_write.exclude_slash_tmp=true',
        ]),
    ...(network === 'off' ? ['-c', 'web_search="disabled"'] : []),
    ...(shell === 'off' ? ['--disable', 'shell_tool', '--disable', 'unified_exec'] : []),
    ...(apps === 'off' ? ['--disable', 'apps'] : []),
  ];
}

/**
 * With plugins Codex downloads a list of recommended plugins from GitHub, under a lock file at this path. No setting
 * turns that off. When the lock cannot be opened, because it is a folder, Codex downloads nothing and continues.
 */
const withoutSync = { '.codex/.tmp/plugins.sync.lock/README': 'Nothing is fetched here.\n' };

/**
 * Since 0.147 a turn begins without the tools of servers that take longer than a second to start, which depends on the load of
 * the machine. 0: it waits for each, up to the limit of its start.
 */
const WAITING_FOR_SERVERS = 'mcp_optional_startup_grace_ms = 0\n';

const configuration = (access: Access, model: string | undefined, hasPlugins: boolean): string =>
  `${model === undefined ? '' : `model = ${JSON.stringify(model)}\n`}${providerOf(access)}
[analytics]
enabled = false

[features]
plugins = ${hasPlugins}
`;

/**
 * A provider of our own, because the built-in one asks for a login and tries a WebSocket first. With a login that calls
 * its own address, the built-in one.
 */
function providerOf(access: Access): string {
  const noUpdates = 'check_for_update_on_startup = false\n';
  if (access.baseUrl === undefined) return noUpdates;
  const isLogin = access.kind === 'login';
  return `model_provider = "gateway"
${noUpdates}
[model_providers.gateway]
name = "gateway"
base_url = ${JSON.stringify(`${access.baseUrl}/${isLogin ? 'codex' : 'v1'}`)}
wire_api = "responses"
${isLogin ? 'requires_openai_auth = true' : 'env_key = "WHETSTONE_GATEWAY_KEY"'}
`;
}

/** A JSON string is also a TOML string. */
function serverTable(server: McpServer): string {
  const fields =
    server.kind === 'http'
      ? [`url = ${JSON.stringify(server.url)}`, `http_headers = ${inlineTable(server.headers)}`]
      : [
          `command = ${JSON.stringify(server.command)}`,
          `args = ${JSON.stringify(server.args)}`,
          `env = ${inlineTable(server.env)}`,
        ];
  return `\n[mcp_servers.${server.name}]\n${fields.join('\n')}\n`;
}

const inlineTable = (values: Readonly<Record<string, string>>): string =>
  `{ ${Object.entries(values)
    .map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`)
    .join(', ')} }`;
