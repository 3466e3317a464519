import { join } from 'node:path';
import type { McpServer } from '../../kit/declared-context.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ baseUrl, key, model, home, mcpServers = [], plugins = [] }) => ({
    env: { ...ownFolders(home), CODEX_HOME: join(home, '.codex'), WHETSTONE_GATEWAY_KEY: key },
    files: {
      '.codex/config.toml': [
        configuration(baseUrl, model, plugins.length > 0),
        ...mcpServers.map(serverTable),
        ...plugins.map(({ name }) => `\n[plugins."${name}@local"]\nenabled = true\n`),
      ].join(''),
      ...(plugins.length > 0 && withoutSync),
    },
  }),

  // `-` makes Codex read the prompt from standard input.
  turn({ model, workingDirectory, resume, outputSchema }) {
    const options = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    const modelAndFolder = ['--model', model, '-C', workingDirectory];
    const answer = outputSchema ? ['--output-schema', outputSchema.file] : [];
    const session = resume === undefined ? ['-'] : ['resume', resume, '-'];
    return ['exec', ...options, ...modelAndFolder, ...answer, ...session];
  },
};

/**
 * With plugins Codex downloads a list of recommended plugins from GitHub, under a lock file at this path. No setting
 * turns that off. When the lock cannot be opened, because it is a folder, Codex downloads nothing and continues.
 */
const withoutSync = { '.codex/.tmp/plugins.sync.lock/README': 'Nothing is fetched here.\n' };

/** A provider of our own, because the built-in one asks for a login and tries a WebSocket first. */
const configuration = (baseUrl: string, model: string, hasPlugins: boolean): string =>
  `model = ${JSON.stringify(model)}
model_provider = "gateway"
check_for_update_on_startup = false

[model_providers.gateway]
name = "gateway"
base_url = ${JSON.stringify(`${baseUrl}/v1`)}
wire_api = "responses"
env_key = "WHETSTONE_GATEWAY_KEY"

[analytics]
enabled = false

[features]
plugins = ${hasPlugins}
`;

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
