import { ownFolders } from '../../kit/own-folders.ts';
import type { Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ access, home }) => ({
    env: {
      ...ownFolders(home),
      ...(access.kind === 'key' && { OPENAI_BASE_URL: `${access.baseUrl}/v1`, OPENAI_API_KEY: access.key }),
    },
    files: { '.invented/settings.json': '{"telemetry":false}' },
  }),
  turn: ({ model, resume }) => [
    ...['--json', '--model', model ?? 'invented-1'],
    ...(resume === undefined ? [] : ['--resume', resume]),
  ],
};
