import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Peer } from '../../kit/dialogue.ts';
import { objectIn, textIn } from '../../kit/fields.ts';
import { createJsonRpc, type JsonRpc, RPC_CODES, RpcError } from '../../kit/json-rpc.ts';
import { traceOf } from '../codex-cli/trace.ts';
import type { DialogueTurn } from '../native-agent.ts';
import { approvalPolicyOf, sandboxModeOf, sandboxPolicyOf } from './confinement.ts';
import { discover } from './discover.ts';
import type { AppServerOptions, Review } from './options.ts';
import type {
  InitializeParams,
  ReviewStartParams,
  ReviewTarget,
  Settings,
  ThreadArchiveParams,
  ThreadForkParams,
  ThreadResumeParams,
  ThreadStartParams,
  ThreadUnarchiveParams,
  ThreadUnsubscribeParams,
  TurnInterruptParams,
  TurnStartParams,
  TurnSteerParams,
} from './protocol.ts';
import type { ClientRequestMethod } from './protocol-methods.ts';
import { answerRequest } from './server-requests.ts';
import { textInput, userInputOf } from './user-input.ts';
import { createWatch, type Watch } from './watch.ts';

const STARTUP_SECONDS = 30;
const REQUEST_SECONDS = 30;

/** A running app-server, which may lead several turns of one session. */
type Server = { ask: Ask; rpc: JsonRpc; current: { turn: DialogueTurn; watch: Watch } };
type Ask = (method: ClientRequestMethod, params: object) => Promise<JsonObject>;

const servers = new WeakMap<Peer, Server>();

/**
 * Leads one turn with an app-server: handshake, thread, turn, leave. A request that Codex refuses, or does not answer in
 * time, ends the dialogue; the stream then has no end of the turn, so the turn has failed.
 */
export async function leadTurn(peer: Peer, turn: DialogueTurn): Promise<void> {
  const watch = createWatch();
  try {
    const server = servers.get(peer) ?? (await startServer(peer, turn, watch));
    server.current = { turn, watch };
    await hold(server, turn, watch);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // What was not answered may still happen, and would then happen in the next turn.
    peer.discard();
    turn.log(`codex app-server: ${error.message}`);
  }
}

async function startServer(peer: Peer, turn: DialogueTurn, watch: Watch): Promise<Server> {
  const { startup_timeout_seconds = STARTUP_SECONDS, request_timeout_seconds = REQUEST_SECONDS } =
    turn.options as AppServerOptions;
  const rpc = createJsonRpc(
    peer,
    {
      onRequest(method, params) {
        const { turn: asked, watch: seen } = server.current;
        return answerRequest(method, params, { decide: asked.decide, ...seen });
      },
      onNotification: (method, params) => server.current.watch.notice(method, params),
    },
    request_timeout_seconds * 1000,
  );
  const server: Server = {
    ask: (method, params) => rpc.request(method, params as JsonObject),
    rpc,
    current: { turn, watch },
  };
  const hello: InitializeParams = {
    clientInfo: { name: 'whetstone', title: 'Whetstone', version: '1' },
    capabilities: { experimentalApi: true },
  };
  await rpc.request('initialize', hello, { timeoutMs: startup_timeout_seconds * 1000 });
  rpc.notify('initialized');
  servers.set(peer, server);
  return server;
}

async function hold({ ask, rpc }: Server, turn: DialogueTurn, watch: Watch): Promise<void> {
  const given = turn.options as AppServerOptions;
  const thread = await openThread(ask, turn);
  const { id: threadId } = thread;
  if (given.discover) turn.report({ discovered: await discover(ask, given.discover, turn) });
  const trace = traceOf(turn.env);
  if (trace) turn.report({ trace });
  for (const { after_calls, text } of given.steer ?? []) {
    watch.afterCalls(threadId, after_calls, (expectedTurnId) => {
      const params: TurnSteerParams = { threadId, expectedTurnId, input: [textInput(text)] };
      ask('turn/steer', params).catch((error: Error) =>
        turn.log(`codex app-server, steer: ${error.message}`),
      );
    });
  }
  const started = given.review
    ? await ask('review/start', reviewOf(threadId, given.review, turn))
    : await ask('turn/start', turnOf(thread, turn));
  const turnId = textIn(objectIn(started.turn)?.id) ?? '';
  const completed = watch.completed(threadId, turnId);
  const interrupt = (): void => {
    const params: TurnInterruptParams = { threadId, turnId };
    // A turn that has ended meanwhile cannot be interrupted, which is as good.
    ask('turn/interrupt', params).catch(() => {});
  };
  if (turn.signal.aborted) interrupt();
  turn.signal.addEventListener('abort', interrupt);
  await Promise.race([completed, rpc.ended]);
  turn.signal.removeEventListener('abort', interrupt);
  await takeLeave(ask, threadId, turn);
}

/** `model`: the one that Codex says the thread has. */
type OpenThread = { id: string; model: string };

async function openThread(ask: Ask, turn: DialogueTurn): Promise<OpenThread> {
  const given = turn.options as AppServerOptions;
  const { permissions, model, workingDirectory } = turn;
  const shared = {
    cwd: workingDirectory,
    approvalPolicy: approvalPolicyOf(permissions),
    sandbox: sandboxModeOf(permissions),
    ...present({ model }),
  };
  if (turn.resume === undefined && given.fork !== undefined) {
    const params: ThreadForkParams = { threadId: given.fork, ...shared, excludeTurns: true };
    return threadIn(await ask('thread/fork', params));
  }
  const resumed = turn.resume ?? given.resume;
  if (resumed !== undefined) {
    if (given.cleanup === 'archive')
      await ask('thread/unarchive', { threadId: resumed } satisfies ThreadUnarchiveParams);
    const params: ThreadResumeParams = { threadId: resumed, ...shared, excludeTurns: true };
    return threadIn(await ask('thread/resume', params));
  }
  const { base_instructions, developer_instructions, service_tier, ephemeral = false } = given;
  const params: ThreadStartParams = {
    ...{ ...shared, ephemeral },
    ...present({
      baseInstructions: base_instructions,
      developerInstructions: developer_instructions,
      serviceTier: service_tier,
    }),
  };
  const started = await ask('thread/start', params);
  checkServiceTier(service_tier, started);
  return threadIn(started);
}

/** Codex leaves out a tier that its model does not have. */
function checkServiceTier(asked: string | undefined, { serviceTier, model }: JsonObject): void {
  if (asked === undefined || serviceTier !== null) return;
  throw new RpcError(RPC_CODES.internal, `The model ${textIn(model)} has no service tier ${asked}.`);
}

const threadIn = ({ thread, model }: JsonObject): OpenThread => ({
  id: textIn(objectIn(thread)?.id) ?? '',
  model: textIn(model) ?? '',
});

function turnOf({ id: threadId, model }: OpenThread, turn: DialogueTurn): TurnStartParams {
  const given = turn.options as AppServerOptions;
  const { effort, summary, service_tier, collaboration_mode: mode } = given;
  const schema = turn.input.outputSchema;
  return {
    ...{ threadId, input: userInputOf(turn), sandboxPolicy: sandboxPolicyOf(turn.permissions) },
    ...present({
      effort,
      summary,
      serviceTier: service_tier,
      collaborationMode: mode && { mode, settings: modeSettings(model, given) },
      outputSchema: schema as TurnStartParams['outputSchema'],
    }),
  };
}

/** A mode replaces what the turn and the thread say of these. Without instructions it has its own. */
const modeSettings = (model: string, { effort, developer_instructions }: AppServerOptions): Settings => ({
  model,
  reasoning_effort: effort ?? null,
  developer_instructions: developer_instructions ?? null,
});

function reviewOf(threadId: string, review: Review, { input }: DialogueTurn): ReviewStartParams {
  const target = (): ReviewTarget => {
    if (review === 'custom') return { type: 'custom', instructions: input.text };
    if (review === 'uncommitted-changes') return { type: 'uncommittedChanges' };
    return 'branch' in review
      ? { type: 'baseBranch', branch: review.branch }
      : { type: 'commit', sha: review.commit, title: null };
  };
  return { threadId, target: target(), delivery: 'inline' };
}

async function takeLeave(ask: Ask, threadId: string, turn: DialogueTurn): Promise<void> {
  const { cleanup = 'unsubscribe', reuse_server = false } = turn.options as AppServerOptions;
  if (turn.signal.aborted || cleanup === 'none' || (reuse_server && cleanup === 'unsubscribe')) return;
  const method = cleanup === 'archive' ? 'thread/archive' : 'thread/unsubscribe';
  const params: ThreadArchiveParams & ThreadUnsubscribeParams = { threadId };
  await ask(method, params).catch((error: Error) =>
    turn.log(`codex app-server, ${method}: ${error.message}`),
  );
}
