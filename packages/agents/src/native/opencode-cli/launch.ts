import { pathToFileURL } from 'node:url';
import type { McpServer } from '../../kit/declared-context.ts';
import { readPrinted, subagentEvents } from '../../kit/kept-events.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import { readDocument } from '../../kit/read-document.ts';
import type { CliAgent } from '../native-agent.ts';
import { createOpencodeTranscriptMapper } from './transcript.ts';

/**
 * OpenCode. Its prompt and tools depend on the model's name. A prompt that is an argument reaches the model in quotes,
 * so it comes from standard input. It has no last event: the last `step_finish` with the reason `stop` is the end.
 */
export const opencodeCli: CliAgent = {
  kind: 'opencode-cli',
  package: 'opencode-ai',
  program: 'opencode',
  entry: { native: 'opencode-PLATFORM/bin/opencode' },
  wire: 'openai-chat-completions',
  defaultModel: 'qwen3-coder-plus',

  settings: ({ baseUrl, key, model, home, mcpServers = [], plugins = [] }) => ({
    env: {
      ...ownFolders(home),
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        ...configuration(baseUrl, key, model),
        ...(mcpServers.length > 0 && { mcp: Object.fromEntries(mcpServers.map(mcpEntry)) }),
        ...(plugins.length > 0 && { plugin: plugins.map(({ folder }) => `${pathToFileURL(folder)}`) }),
      }),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_SHARE: '1',
    },
    // Into its configuration folder it installs a package for plugins, which nothing here uses.
    files: { '.config/opencode/.npmrc': 'offline=true\n' },
  }),

  turn: ({ prompt, model, workingDirectory, resume }) => ({
    args: [
      'run',
      ...['--format', 'json', '--auto'],
      ...['--model', `gateway/${model}`, '--dir', workingDirectory],
      // Without a title it asks the model for one.
      ...(resume === undefined ? ['--title', 'task'] : ['--session', resume]),
    ],
    stdin: prompt,
  }),

  // The stream tells only of the session that was asked; each sub-agent is one of its own.
  keptEvents: (turn) =>
    subagentEvents(turn, (session, emit) => {
      const reader = readDocument(createOpencodeTranscriptMapper(turn.place), emit);
      return readPrinted(turn, ['/bin/sh', '-c', PRINT_SESSION, turn.program, session], reader);
    }),
};

/** By way of a file: into a pipe, OpenCode may end before all of a large document is written. */
const PRINT_SESSION =
  'file=$(mktemp) && "$0" export "$1" > "$file" && cat "$file"; code=$?; rm -f "$file"; exit $code';

function configuration(baseUrl: string, key: string, model: string): object {
  const models = { [model]: { tool_call: true, limit: { context: 200_000, output: 32_000 } } };
  const options = { baseURL: `${baseUrl}/v1`, apiKey: key };
  return {
    model: `gateway/${model}`,
    small_model: `gateway/${model}`,
    enabled_providers: ['gateway'],
    autoupdate: false,
    share: 'disabled',
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
