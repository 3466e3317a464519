import { present } from '@whetstone/events/present';
import { httpUrlAddress, shieldedServers } from '../../kit/mcp-settings.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { Permissions } from '../../policy/permissions.ts';
import type { Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ access, model, home, permissions, ...context }) => {
    const { mcpServers, env } = shieldedServers(context.mcpServers, httpUrlAddress);
    return {
      env: {
        ...env,
        ...ownFolders(home),
        ...(access.kind === 'key'
          ? { OPENAI_BASE_URL: `${access.baseUrl}/v1`, OPENAI_API_KEY: access.key }
          : access.env),
        ...present({ OPENAI_MODEL: model }),
        // Otherwise it starts itself again as a child, which outlives it.
        QWEN_CODE_NO_RELAUNCH: 'true',
        QWEN_CODE_SUPPRESS_YOLO_WARNING: '1',
      },
      files: {
        '.qwen/settings.json': JSON.stringify({ ...settings, ...denied(permissions), mcpServers }, null, 2),
      },
    };
  },

  turn: ({ model, resume, outputSchema }) => [
    // The text of a message that is cut off is only in its parts.
    ...['--output-format', 'stream-json', '--include-partial-messages'],
    '--yolo',
    ...['--auth-type', 'openai', ...(model === undefined ? [] : ['--model', model])],
    ...(outputSchema ? ['--json-schema', `@${outputSchema.file}`] : []),
    ...(resume === undefined ? [] : ['--resume', resume]),
  ],
};

const settings = {
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false },
  telemetry: { enabled: false },
};

/** Its rules hold also where it asks nothing (`--yolo`). */
function denied({ filesystem, shell, network }: Permissions): object {
  const deny = [
    ...(shell === 'off' ? ['run_shell_command', 'monitor'] : []),
    ...(network === 'off' ? ['web_fetch', 'web_search'] : []),
    ...(filesystem === 'read-only' ? ['edit', 'write_file', 'notebook_edit'] : []),
  ];
  return deny.length > 0 ? { permissions: { deny } } : {};
}
