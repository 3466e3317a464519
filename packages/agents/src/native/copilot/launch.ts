import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import type { McpServer } from '../../kit/declared-context.ts';
import { mcpServersOf, typedAddress, withoutDollars } from '../../kit/mcp-settings.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ baseUrl, key, model, home, unpacked, ...context }) => {
    const { mcpServers, env } = withoutDollars(context.mcpServers);
    return {
      env: {
        ...env,
        ...ownFolders(home),
        COPILOT_HOME: join(home, '.copilot'),
        COPILOT_PROVIDER_BASE_URL: `${baseUrl}/v1`,
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_API_KEY: key,
        COPILOT_MODEL: model,
        COPILOT_OFFLINE: 'true',
        COPILOT_AUTO_UPDATE: 'false',
        ...present({ COPILOT_PKG_CACHE_HOME: unpacked }),
      },
      files: mcpFiles(mcpServers),
      args: (context.plugins ?? []).flatMap(({ folder }) => ['--plugin-dir', folder]),
    };
  },

  turn: ({ prompt, model, resume }) => ({
    args: [
      '--allow-all',
      ...['--output-format', 'json', '--model', model],
      ...(resume === undefined ? [] : ['--resume', resume]),
    ],
    stdin: prompt,
  }),
};

function mcpFiles(servers: readonly McpServer[] | undefined): Record<string, string> {
  const entries = mcpServersOf(servers, typedAddress);
  if (!entries) return {};
  // Without a list of tools, Copilot offers none.
  const mcpServers = Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [name, { ...entry, tools: ['*'] }]),
  );
  return { '.copilot/mcp-config.json': JSON.stringify({ mcpServers }, null, 2) };
}
