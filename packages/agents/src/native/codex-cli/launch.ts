import { join } from 'node:path';
import type { JsonValue } from '@whetstone/events';
import type { McpServer } from '../../kit/declared-context.ts';
import { readHomeFile, subagentEvents } from '../../kit/kept-events.ts';
import type { NativeMapper } from '../../kit/native-mapper.ts';
import { ownFolders } from '../../kit/own-folders.ts';
import type { CliAgent } from '../native-agent.ts';
import { type CodexMapper, createCodexMapper } from './stream.ts';
import { createCodexTranscriptMapper } from './transcript.ts';

/**
 * Codex CLI. Its prompt and tools depend on the model: of a model that it does not know it says so in an `error` item
 * and goes on, without `apply_patch`. It writes its system skills and the session into `CODEX_HOME`.
 */
export const codexCli: CliAgent = {
  kind: 'codex-cli',
  package: '@openai/codex',
  program: 'codex',
  entry: { native: '@openai/codex-PLATFORM/vendor/*/bin/codex' },
  wire: 'openai-responses',
  defaultModel: 'gpt-5.5',

  settings: ({ baseUrl, key, model, home, mcpServers = [], plugins = [] }) => ({
    env: { ...ownFolders(home), CODEX_HOME: join(home, '.codex'), WHETSTONE_GATEWAY_KEY: key },
    files: {
      '.codex/config.toml': [
        configuration(baseUrl, model, plugins.length > 0),
        ...mcpServers.map(serverTable),
        ...plugins.map(({ name }) => `\n[plugins."${name}@local"]\nenabled = true\n`),
      ].join(''),
      ...(plugins.length > 0 && withoutSync),
    },
  }),

  // A dash: the prompt is standard input.
  turn({ prompt, model, workingDirectory, resume, outputSchema }) {
    const options = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    const place = ['--model', model, '-C', workingDirectory];
    const answer = outputSchema ? ['--output-schema', outputSchema.file] : [];
    const session = resume === undefined ? ['-'] : ['resume', resume, '-'];
    return { args: ['exec', ...options, ...place, ...answer, ...session], stdin: prompt };
  },

  openStream: (place, before) =>
    createCodexMapper(place, before === 'new' ? undefined : usageOfThread(before)),

  // The stream tells only of the thread that was asked; each sub-agent is one of its own.
  keptEvents: (turn) =>
    subagentEvents(turn, (thread, emit) => {
      const file = { folder: '.codex/sessions', name: `rollout-*-${thread}.jsonl` };
      return readHomeFile(turn, file, createCodexTranscriptMapper(turn.place), emit);
    }),

  answerIn: (mapper) => jsonOf((mapper as CodexMapper).facts.finalMessage ?? ''),
};

/** A turn that did not come to its end tells no usage, and then nobody knows that of the next one. */
const usageOfThread = (before: NativeMapper | 'unread') =>
  before === 'unread' ? before : ((before as CodexMapper).facts.threadUsage ?? 'unread');

/**
 * With plugins it fetches the list of those it recommends from GitHub, under a lock in this place. No setting keeps it
 * from that; where the lock cannot be opened, as it is a folder, it asks nobody and goes on.
 */
const withoutSync = { '.codex/.tmp/plugins.sync.lock/README': 'Nothing is fetched here.\n' };

/** A provider of its own, as the built-in one asks for a login and tries a WebSocket first. */
const configuration = (baseUrl: string, model: string, hasPlugins: boolean): string =>
  `model = ${JSON.stringify(model)}
model_provider = "gateway"
check_for_update_on_startup = false

[model_providers.gateway]
name = "gateway"
base_url = ${JSON.stringify(`${baseUrl}/v1`)}
wire_api = "responses"
env_key = "WHETSTONE_GATEWAY_KEY"

[analytics]
enabled = false

[features]
plugins = ${hasPlugins}
`;

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A JSON string is a TOML one. */
function serverTable(server: McpServer): string {
  const fields =
    server.kind === 'http'
      ? [`url = ${JSON.stringify(server.url)}`, `http_headers = ${inlineTable(server.headers)}`]
      : [
          `command = ${JSON.stringify(server.command)}`,
          `args = ${JSON.stringify(server.args)}`,
          `env = ${inlineTable(server.env)}`,
        ];
  return `\n[mcp_servers.${server.name}]\n${fields.join('\n')}\n`;
}

const inlineTable = (values: Readonly<Record<string, string>>): string =>
  `{ ${Object.entries(values)
    .map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`)
    .join(', ')} }`;
