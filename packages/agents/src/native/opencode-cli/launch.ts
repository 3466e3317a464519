import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { McpServer } from '../../kit/declared-context.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Permissions } from '../../policy/permissions.ts';
import type { Access, Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ access, model, home, permissions, mcpServers = [], plugins = [] }) => ({
    env: {
      ...ownFolders(home),
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        ...configuration(access, model),
        ...denied(permissions),
        ...(mcpServers.length > 0 && { mcp: Object.fromEntries(mcpServers.map(mcpEntry)) }),
        ...(plugins.length > 0 && { plugin: plugins.map(({ folder }) => `${pathToFileURL(folder)}`) }),
      }),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      // The configuration describes the only model, so that OpenCode needs to know no other.
      ...(access.kind === 'key' && model !== undefined && { OPENCODE_MODELS_PATH: join(home, NO_MODELS) }),
      // Its own plugins sign in to some providers.
      ...(access.kind === 'key' ? { OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' } : access.env),
      OPENCODE_DISABLE_SHARE: '1',
    },
    files: { ...NO_PLUGIN_PACKAGE, [NO_MODELS]: '{}\n' },
  }),

  turn: ({ access, model, workingDirectory, resume }) => [
    'run',
    ...['--format', 'json', '--auto'],
    ...(model === undefined ? [] : ['--model', access === 'key' ? `gateway/${model}` : model]),
    ...['--dir', workingDirectory],
    // Without a title, OpenCode asks the model for one.
    ...(resume === undefined ? ['--title', 'task'] : ['--session', resume]),
  ],
};

/**
 * OpenCode would install a package for plugins into its folder, which nothing here uses. It does not even load npm, which
 * takes it a second of CPU, where there are packages and the one that it wants is locked.
 */
const NO_PLUGIN_PACKAGE = {
  '.config/opencode/.npmrc': 'offline=true\n',
  '.config/opencode/node_modules/.package-lock.json': '{}\n',
  '.config/opencode/package-lock.json': `${JSON.stringify({
    packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } },
  })}\n`,
};

/** In place of the thousands of models that OpenCode knows and reads at every start. */
const NO_MODELS = '.config/opencode/no-models.json';

/** With a model, a provider that has only this one; without, OpenAI as OpenCode knows it, and OpenCode chooses. */
function configuration(access: Access, model: string | undefined): object {
  const quiet = { autoupdate: false, share: 'disabled' };
  if (access.kind === 'login') return quiet;
  const options = { baseURL: `${access.baseUrl}/v1`, apiKey: access.key };
  if (model === undefined)
    return { ...quiet, enabled_providers: ['openai'], provider: { openai: { options } } };
  const models = { [model]: { tool_call: true, limit: { context: 200_000, output: 32_000 } } };
  return {
    ...quiet,
    model: `gateway/${model}`,
    small_model: `gateway/${model}`,
    enabled_providers: ['gateway'],
    provider: { gateway: { npm: '@ai-sdk/openai-compatible', options, models } },
  };
}

function mcpEntry(server: McpServer): [string, object] {
  if (server.kind === 'http') {
    const { url, headers } = server;
    return [server.name, { type: 'remote', url, headers, enabled: true }];
  }
  const { command, args, env } = server;
  return [server.name, { type: 'local', command: [command, ...args], environment: env, enabled: true }];
}

/** What is denied stays so under `--auto`. */
function denied({ filesystem, shell, network }: Permissions): object {
  const permission = {
    ...(shell === 'off' && { bash: 'deny' }),
    ...(network === 'off' && { webfetch: 'deny', websearch: 'deny', codesearch: 'deny' }),
    ...(filesystem === 'read-only' && { edit: 'deny' }),
  };
  return Object.keys(permission).length > 0 ? { permission } : {};
}
