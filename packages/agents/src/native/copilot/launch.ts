import { join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { McpServer } from '../../kit/declared-context.ts';
import { isBefore, isPlainId, readHomeFile } from '../../kit/kept-events.ts';
import { mcpServersOf, withoutDollars } from '../../kit/mcp-settings.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { CliAgent } from '../native-agent.ts';
import { createCopilotTranscriptMapper } from './transcript.ts';

/**
 * GitHub Copilot CLI with a provider of its own, which needs no login. Its tools depend on the model's name. It unpacks
 * 235 MB into each new home, unless that was done at its installation.
 */
export const copilot: CliAgent = {
  kind: 'copilot',
  package: '@github/copilot',
  program: 'copilot',
  entry: { native: '@github/copilot-PLATFORM/copilot' },
  unpacking: (folder) => ({ COPILOT_PKG_CACHE_HOME: folder, COPILOT_SEA_EXTRACT_ONLY: '1' }),
  wire: 'openai-chat-completions',
  defaultModel: 'claude-sonnet-4.5',

  settings: ({ baseUrl, key, model, home, unpacked, ...given }) => {
    const { mcpServers, env } = withoutDollars(given.mcpServers);
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
      args: (given.plugins ?? []).flatMap(({ folder }) => ['--plugin-dir', folder]),
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

  // Tokens are in the session's file alone, those of sub-agents too.
  async keptEvents(turn) {
    const { sessionId = '' } = turn.summary;
    if (!isPlainId(sessionId)) return [];
    const usages: StreamEvent[] = [];
    const file = { folder: `.copilot/session-state/${sessionId}`, name: 'events.jsonl' };
    await readHomeFile(turn, file, createCopilotTranscriptMapper(turn.place), (event) => {
      if (event.type === 'usage' && !isBefore(event, turn.startedAt)) usages.push(event);
    });
    return usages;
  },
};

function mcpFiles(servers: readonly McpServer[] | undefined): Record<string, string> {
  const entries = mcpServersOf(servers, ({ url, headers }) => ({ type: 'http', url, headers }));
  if (!entries) return {};
  // Without a list of tools it offers none.
  const mcpServers = Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [name, { ...entry, tools: ['*'] }]),
  );
  return { '.copilot/mcp-config.json': JSON.stringify({ mcpServers }, null, 2) };
}
