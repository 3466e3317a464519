/** The SDKs without a model: they play the scene that the prompt names, in the process of the bridge. */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { playScene, type Printed, Question } from './play-scene.ts';
import { printNow } from './print-now.ts';

/** What an SDK prints by itself goes beside its messages. */
async function* messages(
  scene: AsyncIterable<Printed>,
  answer: (question: object) => Promise<unknown> = async () => undefined,
): AsyncGenerator<object> {
  for await (const printed of scene) {
    if (printed instanceof Question) await answer(printed.content);
    else if (typeof printed === 'string' || Buffer.isBuffer(printed)) printNow(printed);
    else yield printed;
  }
}

const schemaArgs = (schema: object | undefined): string[] =>
  schema === undefined ? [] : ['--output-schema', JSON.stringify(schema)];

type CodexItem = { type: string; text?: string };
type ThreadOptions = { model?: string; workingDirectory: string };

/** `@openai/codex-sdk` */
export class Codex {
  startThread(options: ThreadOptions) {
    return thread(options);
  }
  resumeThread(id: string, options: ThreadOptions) {
    return thread(options, id);
  }
}

const thread = ({ model = 'none', workingDirectory }: ThreadOptions, resumed?: string) => ({
  async runStreamed(input: readonly CodexItem[], { outputSchema }: { outputSchema?: object }) {
    if (!isDeepStrictEqual(workingDirectory, process.cwd())) throw new Error('Another workspace.');
    const args = ['--model', model, ...schemaArgs(outputSchema), ...(resumed === undefined ? [] : [resumed])];
    const prompt = input.map(({ text = '' }) => text).join('');
    return { events: messages(playScene({ formatName: 'codex-cli', args, prompt })) };
  },
});

type UserMessage = { message: { content: readonly { text?: string }[] } };
type Asked = { tool: string; input: object; toolUseID: string };
type QueryOptions = {
  model?: string;
  resume?: string;
  outputFormat?: { schema: object };
  canUseTool(tool: string, input: object, about: { toolUseID: string }): Promise<object>;
};

/** `@anthropic-ai/claude-agent-sdk` */
export async function* query(call: { prompt: AsyncIterable<UserMessage>; options: QueryOptions }): AsyncGenerator<object> {
  const { model = 'none', resume, outputFormat } = call.options;
  const args = ['--model', model, ...schemaArgs(outputFormat?.schema), ...(resume === undefined ? [] : [resume])];
  for await (const { message } of call.prompt) {
    const prompt = message.content.map(({ text = '' }) => text).join('');
    const answer = (question: object) => {
      const { tool, input, toolUseID } = question as Asked;
      return call.options.canUseTool(tool, input, { toolUseID });
    };
    yield* messages(playScene({ formatName: 'claude-code', args, prompt }), answer);
    return;
  }
}

type OpencodeTurn = { sessionID: string; model?: { modelID: string }; format?: { schema: object }; parts: readonly { text?: string }[] };

/** `@opencode-ai/sdk`: one server, whose events are those of the one turn of its process. */
export const createOpencodeServer = async () => ({ url: 'http://127.0.0.1:9' });

export function createOpencodeClient({ directory }: { directory: string }) {
  if (!isDeepStrictEqual(directory, process.cwd())) throw new Error('Another workspace.');
  const asked = Promise.withResolvers<OpencodeTurn>();
  let opened: { id: string } | undefined;
  const answer = async (data: unknown) => ({ data });

  async function* events(): AsyncGenerator<object> {
    yield { type: 'server.connected', properties: {} };
    const { sessionID, model, format, parts } = await asked.promise;
    const args = [
      ...['--model', model?.modelID ?? 'none', '--session-id', sessionID],
      ...schemaArgs(format?.schema),
      ...(opened?.id === sessionID ? [] : [sessionID]),
    ];
    const prompt = parts.map(({ text = '' }) => text).join('');
    yield* messages(playScene({ formatName: 'opencode-sdk', args, prompt }));
    yield { type: 'session.idle', properties: { sessionID } };
  }

  return {
    app: { agents: () => answer([{ name: 'build', permission: [] }]) },
    global: { health: () => answer({ healthy: true, version: '9.9.9' }) },
    file: { list: () => answer(readdirSync(directory).map((name) => ({ name }))) },
    event: { subscribe: async () => ({ stream: events() }) },
    mcp: { status: () => answer({}) },
    path: { get: () => answer({ worktree: process.cwd() }) },
    permission: { reply: () => answer(true) },
    session: {
      create() {
        opened = { id: randomUUID() };
        return answer(opened);
      },
      get: ({ sessionID }: OpencodeTurn) => answer({ id: sessionID }),
      promptAsync(turn: OpencodeTurn) {
        asked.resolve(turn);
        return answer(undefined);
      },
      update: () => answer({}),
      abort: () => answer(true),
      delete: () => answer(true),
      status: () => answer({}),
      diff: () => answer([]),
    },
  };
}
