import { emptyUsage } from '@whetstone/events';
import type { McpServer } from '../../kit/declared-context.ts';
import { mcpServersOf, withoutDollars } from '../../kit/mcp-settings.ts';
import type { NativeMapper } from '../../kit/native-mapper.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { CliAgent } from '../native-agent.ts';
import { createQwenCodeMapper, type QwenMapper } from './stream.ts';

/** Qwen Code, which wants Node 22 or newer: under 20 it ends half a minute after its last event. */
export const qwenCode: CliAgent = {
  kind: 'qwen-code',
  package: '@qwen-code/qwen-code',
  program: 'qwen',
  entry: { script: '@qwen-code/qwen-code/cli-entry.js' },
  wire: 'openai-chat-completions',
  defaultModel: 'qwen3-coder-plus',

  settings: ({ baseUrl, key, model, home, ...given }) => {
    const { mcpServers, env } = withoutDollars(given.mcpServers);
    return {
      env: {
        ...env,
        ...ownFolders(home),
        OPENAI_BASE_URL: `${baseUrl}/v1`,
        OPENAI_API_KEY: key,
        OPENAI_MODEL: model,
        // It would start itself again as a child, which outlives it.
        QWEN_CODE_NO_RELAUNCH: 'true',
        QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
      },
      files: {
        '.qwen/settings.json': JSON.stringify(
          { ...settings, mcpServers: mcpServersOf(mcpServers, addressOf) },
          null,
          2,
        ),
      },
    };
  },

  turn: ({ prompt, model, resume, outputSchema }) => ({
    args: [
      ...['--output-format', 'stream-json'],
      '--yolo',
      ...['--auth-type', 'openai', '--model', model],
      ...(outputSchema ? ['--json-schema', `@${outputSchema.file}`] : []),
      ...(resume === undefined ? [] : ['--resume', resume]),
    ],
    stdin: prompt,
  }),

  openStream: (place, before) => createQwenCodeMapper(place, usageBefore(before)),
};

const usageBefore = (before: NativeMapper | 'new' | 'unread') => {
  if (before === 'new') return emptyUsage();
  return before === 'unread' ? undefined : (before as QwenMapper).sessionUsage;
};

const settings = {
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false },
  telemetry: { enabled: false },
};

const addressOf = ({ url, headers }: Extract<McpServer, { kind: 'http' }>) => ({ httpUrl: url, headers });
