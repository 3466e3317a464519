import { join } from 'node:path';
import { ownFolders } from '../../kit/own-folders.ts';
import type { CliAgent } from '../native-agent.ts';

/** pi. In JSON mode its exit code is 0 whatever happens: the last assistant message's `stopReason` tells. */
export const pi: CliAgent = {
  kind: 'pi',
  package: '@earendil-works/pi-coding-agent',
  program: 'pi',
  entry: { script: '@earendil-works/pi-coding-agent/dist/bundle/cli.js' },
  wire: 'anthropic-messages',
  defaultModel: 'claude-sonnet-4-5',

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

  turn: ({ prompt, model, resume }) => ({
    args: [
      ...['--mode', 'json', '--provider', 'gateway', '--model', model],
      ...(resume === undefined ? [] : ['--session', resume]),
    ],
    stdin: prompt,
  }),
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
