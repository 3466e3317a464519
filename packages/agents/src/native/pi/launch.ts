import { join } from 'node:path';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Permissions } from '../../policy/permissions.ts';
import type { Access, Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ access, model, home, plugins = [] }) => ({
    env: {
      ...ownFolders(home),
      PI_CODING_AGENT_DIR: join(home, '.pi/agent'),
      PI_OFFLINE: '1',
      PI_TELEMETRY: '0',
      ...(access.kind === 'login' && access.env),
    },
    files: { '.pi/agent/models.json': JSON.stringify({ providers: providers(access, model) }, null, 2) },
    args: plugins.flatMap(({ folder }) => ['--extension', folder]),
  }),

  turn: ({ access, model, permissions, resume }) => [
    ...['--mode', 'json'],
    ...(access === 'key' ? ['--provider', model === undefined ? 'anthropic' : 'gateway'] : []),
    ...(model === undefined ? [] : ['--model', model]),
    ...leftOut(permissions),
    ...(resume === undefined ? [] : ['--session', resume]),
  ],
};

function leftOut({ filesystem, shell, apps }: Permissions): string[] {
  const tools = [
    ...(shell === 'off' ? ['bash'] : []),
    ...(filesystem === 'read-only' ? ['edit', 'write'] : []),
  ];
  return [
    ...(tools.length > 0 ? ['--exclude-tools', tools.join(',')] : []),
    ...(apps === 'off' ? ['--no-extensions'] : []),
  ];
}

/** With a model, a provider that has only this one; else pi's own providers at another address, and pi chooses. */
function providers(access: Access, model: string | undefined): object {
  if (access.kind === 'login') {
    const { baseUrl } = access;
    return baseUrl === undefined ? {} : { anthropic: { baseUrl }, 'openai-codex': { baseUrl } };
  }
  const { baseUrl, key: apiKey } = access;
  if (model === undefined) return { anthropic: { baseUrl, apiKey } };
  const models = [{ id: model, contextWindow: 200_000, maxTokens: 32_000 }];
  return { gateway: { baseUrl, api: 'anthropic-messages', apiKey, models } };
}
