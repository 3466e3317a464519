import type {
  AnyMessage,
  ClientContext,
  InitializeResponse,
  LoadSessionRequest,
  LoadSessionResponse,
  NewSessionResponse,
  Stream,
} from '@agentclientprotocol/sdk';
import { WhetstoneError } from '@whetstone/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { McpServer } from '../../kit/declared-context.ts';
import type { Peer } from '../../kit/dialogue.ts';
import { objectIn, textIn } from '../../kit/fields.ts';
import type { CommandTurn } from '../native-agent.ts';
import type { ClientOptions } from './client-options.ts';
import { answerElicitation } from './elicitation.ts';
import { answerPermission } from './permission.ts';
import { promptBlocks } from './prompt-blocks.ts';

/**
 * Leads one turn over the Agent Client Protocol, version 1 (https://agentclientprotocol.com): a new or a resumed session,
 * its mode, and one prompt. The agent is offered no file system and no terminal of the client, so that it uses its own
 * tools, in the sandbox. How the turn went is in what the agent prints.
 *
 * @throws WhetstoneError `input-unsupported`, `agent-session-missing`
 */
export async function holdAcpTurn(peer: Peer, turn: CommandTurn, client: ClientOptions = {}): Promise<void> {
  const titles = new Map<string, string>();
  let forms = 0;
  const { mode, beforeLoad, afterNew } = client;
  const { client: createClient, methods, RequestError } = await import('@agentclientprotocol/sdk');
  const app = createClient({ name: 'whetstone' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      const named = titles.get(params.toolCall.toolCallId);
      return answerPermission(params, turn, { ...client, ...present({ named }) });
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      forms += 1;
      return answerElicitation(params, turn, { titles, ownId: `elicitation-${forms}` });
    });
  try {
    await app.connectWith(
      streamOf(peer, (message) => noteTitle(message, titles)),
      async (agent) => {
        const described = await agent.request(methods.agent.initialize, {
          protocolVersion: VERSION,
          clientCapabilities: {
            fs: { readTextFile: false, writeTextFile: false },
            terminal: false,
            elicitation: { form: {} },
          },
          clientInfo: { name: 'whetstone', version: '1' },
        });
        const prompt = await promptBlocks(turn, described, client);
        if (turn.resume !== undefined) await beforeLoad?.(turn.resume, turn.signal);
        const { sessionId, modes } = await openSession(
          agent,
          described,
          client.hasServersInSettings ? { ...turn, mcpServers: [] } : turn,
        );
        if (turn.resume === undefined) afterNew?.(sessionId);
        if (mode !== undefined && modes?.currentModeId !== mode) {
          await agent.request(methods.agent.session.setMode, { sessionId, modeId: mode });
        }
        const current = mode ?? modes?.currentModeId;
        if (modes && current !== undefined) turn.report?.({ own: { mode: current } });
        const cancel = (): void => void agent.notify(methods.agent.session.cancel, { sessionId });
        turn.signal.addEventListener('abort', cancel, { once: true });
        await agent.request(methods.agent.session.prompt, { sessionId, prompt }).finally(() => {
          turn.signal.removeEventListener('abort', cancel);
        });
      },
    );
  } catch (error) {
    // The agent refused a request: its answer is in the stream, and ends the turn.
    if (!(error instanceof RequestError)) throw error;
  }
}

const VERSION = 1;

type OpenSession = Pick<NewSessionResponse, 'sessionId' | 'modes'>;

/** Resumes without a replay of the conversation where the agent can. */
async function openSession(
  agent: ClientContext,
  { agentCapabilities }: InitializeResponse,
  { resume, workingDirectory, ...turn }: CommandTurn,
): Promise<OpenSession> {
  const { methods } = await import('@agentclientprotocol/sdk');
  const mcpServers = turn.mcpServers.map(mcpServer);
  const place = { cwd: workingDirectory, mcpServers };
  if (resume === undefined) return await agent.request(methods.agent.session.new, place);
  const request = { ...place, sessionId: resume };
  const resumed: Pick<OpenSession, 'modes'> | undefined = agentCapabilities?.sessionCapabilities?.resume
    ? await agent.request(methods.agent.session.resume, request)
    : agentCapabilities?.loadSession
      ? await load(agent, request)
      : undefined;
  if (resumed === undefined) {
    throw new WhetstoneError(
      'agent-session-missing',
      'The agent cannot resume a session over its protocol.',
      {
        hint: 'Leave `follow_ups` out of the task, or choose another agent.',
      },
    );
  }
  return { sessionId: resume, modes: resumed.modes ?? null };
}

/** An agent may answer before it has replayed the conversation: its answer to another request comes after that. */
async function load(agent: ClientContext, request: LoadSessionRequest): Promise<LoadSessionResponse> {
  const { methods } = await import('@agentclientprotocol/sdk');
  const loaded = await agent.request(methods.agent.session.load, request);
  await agent.request(AFTER_REPLAY).catch(() => undefined);
  return loaded;
}

/** A method that no agent has. */
export const AFTER_REPLAY = '_whetstone/after_replay';

function mcpServer(server: McpServer) {
  const pairs = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => ({ name, value }));
  if (server.kind === 'http') {
    const { name, url, headers } = server;
    return { type: 'http' as const, name, url, headers: pairs(headers) };
  }
  const { name, command, args, env } = server;
  return { name, command, args: [...args], env: pairs(env) };
}

/**
 * The program as the library's stream. The id of each request begins with its method, so that the stored log of an agent
 * identifies what each answer is for. Notifications are only read as events.
 */
function streamOf(peer: Peer, note: (notification: JsonObject) => void): Stream {
  return {
    writable: new WritableStream<AnyMessage>({
      write: (message) => peer.send(named(message as unknown as JsonObject)),
    }),
    readable: new ReadableStream<AnyMessage>({
      async pull(controller) {
        for (let message = await peer.next(); message; message = await peer.next()) {
          if (message.id === undefined || message.id === null) {
            note(message);
            continue;
          }
          controller.enqueue(unnamed(message) as unknown as AnyMessage);
          return;
        }
        controller.close();
      },
    }),
  };
}

/** The first title of a call, which may name its tool as no later one does. */
function noteTitle({ params }: JsonObject, titles: Map<string, string>): void {
  const update = objectIn(objectIn(params)?.update);
  const callId = textIn(update?.toolCallId);
  const title = textIn(update?.title);
  if (callId !== undefined && title !== undefined && !titles.has(callId)) titles.set(callId, title);
}

const named = (message: JsonObject): JsonObject =>
  typeof message.method === 'string' && message.id !== undefined
    ? { ...message, id: `${message.method}#${message.id}` }
    : message;

function unnamed(message: JsonObject): JsonObject {
  if (typeof message.method === 'string' || typeof message.id !== 'string') return message;
  return { ...message, id: Number(message.id.slice(message.id.lastIndexOf('#') + 1)) };
}

/** The method of the request that a message answers. */
export function answeredMethod({ id }: JsonObject): string | undefined {
  return typeof id === 'string' ? /^([\w/]+)#\d+$/.exec(id)?.[1] : undefined;
}

export const resultOf = ({ result }: JsonObject): JsonObject =>
  isJsonObject(result as JsonValue | undefined) ? (result as JsonObject) : {};
