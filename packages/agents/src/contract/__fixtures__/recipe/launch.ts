import { ownFolders } from '../../kit/own-folders.ts';
import type { Launch } from '../native-agent.ts';

export const launch: Launch = {
  settings: ({ baseUrl, key, home }) => ({
    env: { ...ownFolders(home), OPENAI_BASE_URL: `${baseUrl}/v1`, OPENAI_API_KEY: key },
    files: { '.invented/settings.json': '{"telemetry":false}' },
  }),
  turn: ({ model, resume }) => [
    ...['--json', '--model', model],
    ...(resume === undefined ? [] : ['--resume', resume]),
  ],
};
