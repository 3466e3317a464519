import { join } from 'node:path';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ baseUrl, key, model, home, plugins = [] }) => ({
    env: {
      ...ownFolders(home),
      PI_CODING_AGENT_DIR: join(home, '.pi/agent'),
      PI_OFFLINE: '1',
      PI_TELEMETRY: '0',
    },
    files: { '.pi/agent/models.json': JSON.stringify(providers(baseUrl, key, model), null, 2) },
    args: plugins.flatMap(({ folder }) => ['--extension', folder]),
  }),

  turn: ({ model, resume }) => [
    ...['--mode', 'json', '--provider', 'gateway', '--model', model],
    ...(resume === undefined ? [] : ['--session', resume]),
  ],
};

const providers = (baseUrl: string, key: string, model: string): object => ({
  providers: {
    gateway: {
      baseUrl,
      api: 'anthropic-messages',
      apiKey: key,
      models: [{ id: model, contextWindow: 200_000, maxTokens: 32_000 }],
    },
  },
});
