import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mediaTypeOf } from '../../kit/media-type.ts';
import { type Bridge, runBridge } from '../../kit/sdk-bridge.ts';
import type { SdkItem } from '../../kit/sdk-items.ts';
import { repositoryPlugins } from './repository-plugins.ts';
import {
  denials,
  leave,
  type ServerAgent,
  type ServerProvider,
  UNASKED,
  type UsersServer,
  whyUnusable,
} from './users-server.ts';

/** What the host asks of one turn; `prompt` and `session` are parameters of the SDK, under its own names. */
export type OpencodeSdkRequest = {
  items: readonly SdkItem[];
  /** The program of OpenCode, which the SDK starts as a server. */
  program: string;
  /** The server of the user to work on, instead. */
  server?: UsersServer;
  /** What the repository may give OpenCode. */
  repository: 'all' | 'instructions';
  /** The files of the workspace with instructions, of which OpenCode reads the first that is there. */
  instructions: readonly string[];
  session: object;
  prompt: object;
  /** The session to resume. */
  resume?: string;
  /** The turn is one of a copy of that session. */
  forks: boolean;
};

/** The answer of the host to a question: `answers` has a list for each question. */
export type OpencodeSdkAnswer =
  | { reply: 'once' }
  | { reply: 'reject'; message: string }
  | { answers: string[][] };

type Event = { type: string; properties: Properties };
type Properties = Readonly<Record<string, unknown>> & { sessionID?: string };
type Part = { callID?: string; tool?: string; state?: { status: string; input?: unknown } };
type Answer = Promise<{ data: unknown }>;

type OpencodeClient = {
  app: { agents(): Answer };
  config: { providers(): Answer };
  global: { health(options: object): Answer };
  file: { list(parameters: object, options: object): Answer };
  event: { subscribe(parameters: object, options: object): Promise<{ stream: AsyncIterable<Event> }> };
  mcp: { status(): Answer };
  path: { get(): Answer };
  permission: { reply(parameters: object): Answer };
  question: { reply(parameters: object): Answer };
  session: Record<SessionCall, (parameters: object) => Answer> & {
    status(): Answer;
  };
};

type SessionCall = 'create' | 'get' | 'fork' | 'update' | 'promptAsync' | 'diff' | 'abort' | 'delete';

type OpencodeSdk = {
  createOpencodeServer(options: object): Promise<{ url: string }>;
  createOpencodeClient(options: object): OpencodeClient;
};

type OpencodeBridge = Bridge<OpencodeSdk, OpencodeSdkRequest>;

/** The time limit of the turn usually comes first. */
const START_MS = 10 * 60_000;

/** Of a process that stays, the server of its first turn. */
let own: Promise<{ url: string }> | undefined;

/** The sessions that a process which stays has made on a server of the user. */
const made = new Set<string>();

await runBridge(async ({ sdk, request, print, ask, signal, beforeEnd }: OpencodeBridge) => {
  const { server } = request;
  if (server && made.size === 0) checkRepository(request);
  if (!server) {
    own ??= startServer(sdk, request).catch((error) => {
      own = undefined;
      throw error;
    });
  }
  const { url = '' } = server ?? (await own) ?? {};
  const { OPENCODE_SERVER_USERNAME: user = 'opencode', OPENCODE_SERVER_PASSWORD: password = '' } =
    process.env;
  const client = sdk.createOpencodeClient({
    baseUrl: url,
    directory: server?.directory ?? process.cwd(),
    headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
    throwOnError: true,
  });
  if (server) {
    const unusable = await whyUnusable(client, server);
    // The host ends the turn: the agent has not failed.
    if (unusable !== undefined) await ask({ unusable });
  }
  const report = async (method: string, answer: Answer): Promise<unknown> => {
    const { data } = await answer;
    await print({ type: 'sdk.result', method, data });
    return data;
  };

  const over = new AbortController();
  const events = await listen(client, AbortSignal.any([signal, over.signal]));
  const session = await openSession(client, request, report);
  const { worktree: root, home } = (await client.path.get()).data as { worktree: string; home: string };
  const agent = await findAgent(client, request.prompt);
  await checkVariant(client, request.prompt);
  if (server) {
    if (session !== request.resume) made.add(session);
    beforeEnd(() => leave(client, session, made, server));
    const permission = [...server.rules, ...denials(agent)];
    await client.session.update({ sessionID: session, permission });
  }
  await client.session.promptAsync({
    ...request.prompt,
    sessionID: session,
    parts: request.items.map(toPart),
  });

  /** The sessions of the turn: its own, and those of its sub-agents. */
  const sessions = new Set([session]);
  /** The inputs of the calls that have begun. */
  const calls = new Map<string, unknown>();
  /** Questions about calls that OpenCode has not reported yet. The decision about a call comes after it. */
  const early = new Map<string, Event>();
  let prompt: string | undefined;

  /** On a server of the user, calls that ran although nobody was asked. */
  const asked = new Set<string>();

  async function answer({ type, properties }: Event, input: unknown = {}): Promise<void> {
    const { id: requestID, permission, patterns, metadata, questions } = properties;
    const callId = callOf(properties);
    asked.add(callId);
    if (type === 'question.asked') {
      const { answers } = await ask({ callId, permission: 'question', questions });
      await client.question.reply({ requestID, answers });
    } else {
      const { reply, message } = await ask({ callId, permission, patterns, metadata, input, root, home });
      await client.permission.reply({ requestID, reply, message });
    }
  }

  for await (const event of events) {
    const { type, properties } = event;
    const of = properties.sessionID;
    const { parentID } = (properties.info ?? {}) as { parentID?: string };
    if (type === 'session.created' && of !== undefined && sessions.has(parentID ?? '')) sessions.add(of);
    if (of === undefined ? type !== 'session.error' : !sessions.has(of)) continue;
    await print(event);
    if (type === 'message.updated' && of === session) {
      const { role, id } = properties.info as { role: string; id: string };
      if (role === 'user') prompt ??= id;
    }
    if (type === 'message.part.updated') {
      const { callID = '', tool = '', state } = properties.part as Part;
      if (server && state?.status === 'completed' && !asked.has(callID) && !UNASKED.has(tool)) {
        await client.session.abort({ sessionID: session });
        throw new Error(
          `The server of OpenCode ran ${tool} without asking, although its session has to ask. An approval that it remembers, or a plugin, can be the reason.`,
        );
      }
      if (state?.status === 'running') calls.set(callID, state.input);
      const question = calls.has(callID) && early.get(callID);
      if (question && early.delete(callID)) await answer(question, calls.get(callID));
    }
    if (type === 'permission.asked' || type === 'question.asked') {
      const callId = callOf(properties);
      if (callId === '' || calls.has(callId)) await answer(event, calls.get(callId));
      else early.set(callId, event);
    }
    const isOver = type === 'session.idle' && of === session;
    if (!isOver && !(type === 'session.error' && (await isIdle(client, session)))) continue;
    if (prompt !== undefined) {
      await report('session.diff', client.session.diff({ sessionID: session, messageID: prompt }));
    }
    await report('mcp.status', client.mcp.status());
    over.abort();
    return;
  }
  own = undefined;
  if (!signal.aborted) throw new Error('The server of OpenCode ended before the turn was over.');
});

/** The call that a question is about. */
function callOf({ tool }: Properties): string {
  return (tool as { callID?: string } | undefined)?.callID ?? '';
}

/** A server of its own, with the environment and in the folder of the bridge. */
async function startServer(sdk: OpencodeSdk, request: OpencodeSdkRequest): Promise<{ url: string }> {
  checkRepository(request);
  const { program, instructions } = request;
  const isClosed = request.repository === 'instructions';
  const { PATH = '', OPENCODE_CONFIG_CONTENT = '{}' } = process.env;
  const folder = dirname(program);
  // The SDK starts what the PATH has under that name.
  if (!PATH.split(delimiter).includes(folder)) process.env.PATH = `${folder}${delimiter}${PATH}`;
  // Any process of the machine can reach its port.
  process.env.OPENCODE_SERVER_PASSWORD = randomUUID();
  const files = instructions.map((name) => join(process.cwd(), name)).filter((path) => existsSync(path));
  // OpenCode itself looks for them with the settings of the repository.
  const read = isClosed ? { instructions: files.slice(0, 1) } : {};
  const config = { ...JSON.parse(OPENCODE_CONFIG_CONTENT), ...read };
  return await sdk.createOpencodeServer({ port: 0, timeout: START_MS, config });
}

/** What OpenCode reads of a repository before any rule of a session counts. */
function checkRepository({ repository, server }: OpencodeSdkRequest): void {
  if (repository === 'all') return;
  const [file] = repositoryPlugins(process.cwd(), server ? 'settings' : 'plugins');
  if (file === undefined) return;
  throw new Error(
    server
      ? `The server of OpenCode would use the settings of the repository, which can do what the permissions do not allow: ${file}. Leave it out, or write filesystem: full, shell: allow and network: open.`
      : `OpenCode would run code of the repository, which permissions.apps: off does not allow: ${file}. Leave it out, or write apps: allow.`,
  );
}

/** The events of the server, from when it has begun to send them. A connection that ends is not opened again. */
async function listen(client: OpencodeClient, signal: AbortSignal): Promise<AsyncIterable<Event>> {
  const { stream } = await client.event.subscribe({}, { signal, sseMaxRetryAttempts: 1 });
  const events = stream[Symbol.asyncIterator]();
  for (let next = await events.next(); next.value?.type !== 'server.connected'; next = await events.next()) {
    if (next.done) throw new Error('The server of OpenCode sends no events.');
  }
  return { [Symbol.asyncIterator]: () => events };
}

async function openSession(
  { session }: OpencodeClient,
  request: OpencodeSdkRequest,
  report: (method: string, answer: Answer) => Promise<unknown>,
): Promise<string> {
  const { resume: sessionID, forks } = request;
  const opened =
    sessionID === undefined
      ? await report('session.create', session.create(request.session))
      : forks
        ? await report('session.fork', session.fork({ sessionID }))
        : await report('session.get', session.get({ sessionID }));
  return (opened as { id: string }).id;
}

/** A turn with an unknown agent would never end. */
async function findAgent(
  { app }: OpencodeClient,
  { agent }: { agent?: string },
): Promise<ServerAgent | undefined> {
  if (agent === undefined) return undefined;
  const agents = (await app.agents()).data as ServerAgent[];
  const found = agents.find(({ name }) => name === agent);
  if (found) return found;
  throw new Error(`OpenCode has no agent ${agent}. It has: ${agents.map(({ name }) => name).join(', ')}.`);
}

/** OpenCode leaves out a variant that its model does not have. */
async function checkVariant(
  { config }: OpencodeClient,
  { model, variant }: { model?: { providerID: string; modelID: string }; variant?: string },
): Promise<void> {
  if (variant === undefined || model === undefined) return;
  const { providers } = (await config.providers()).data as { providers: ServerProvider[] };
  const { models = {} } = providers.find(({ id }) => id === model.providerID) ?? {};
  const { variants = {} } = models[model.modelID] ?? {};
  if (Object.hasOwn(variants, variant)) return;
  const names = Object.keys(variants).join(', ') || 'none';
  throw new Error(`The model ${model.modelID} of OpenCode has no variant ${variant}. It has: ${names}.`);
}

/** The server lists only sessions that are not idle. */
async function isIdle({ session }: OpencodeClient, id: string): Promise<boolean> {
  return !Object.hasOwn((await session.status()).data as object, id);
}

function toPart(item: SdkItem): object {
  if (item.type === 'text') return item;
  const name = item.path.slice(item.path.lastIndexOf('/') + 1);
  return { type: 'file', mime: mediaTypeOf(item.path), filename: name, url: pathToFileURL(item.path).href };
}
