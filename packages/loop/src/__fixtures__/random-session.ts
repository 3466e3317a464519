import { present } from '@whetstone/events/present';
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { APICallError } from '@ai-sdk/provider';
import { systemClock } from '../control/clock.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { Hooks } from '../control/hooks.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import { Session } from '../session/session.ts';
import type { SessionEvent } from '../events/session-event.ts';
import { type SessionOptions, SessionStateError } from '../session/session-options.ts';
import type { SessionSnapshot } from '../conversation/snapshot.ts';
import { defineTool, type ToolOutput } from '../tools/tool.ts';
import { NATIVE_PROVIDERS, type NativeProvider } from '../llm/native-providers.ts';
import type { Input, ProviderMetadata } from '../conversation/turn.ts';
import { MODELS } from './wire-body.ts';
import type { Action, Move, Plan } from './random-plan.ts';
import { finish, type ModelStep, says, scriptedModel, textParts, toolCall } from './scripted-model.ts';

/** What the model of a provider does. `count` is a number that no other response of the plan has. */
function toStep(what: Action, provider: NativeProvider, count: number): ModelStep {
  const own = ownParts(provider, count);
  switch (what.kind) {
    case 'text':
      return [...own.reasoning, ...own.text(what.text), finish('stop')];
    case 'tools': {
      const parts = what.names.map((name, index) => ({
        ...toolCall(name, what.input, what.ids[index] ?? ''),
        ...own.ofCall(index),
      }));
      return [...own.reasoning, ...own.text('working'), ...parts, finish(what.finish)];
    }
    case 'fail':
      return new APICallError({
        message: 'no',
        url: 'http://x',
        requestBodyValues: {},
        statusCode: what.status,
      });
    case 'reset':
      return [...textParts('ha'), { type: 'error', error: new Error('socket hang up ECONNRESET') }];
    case 'break_off':
      return [...textParts('ha').slice(0, 2), toolCall('good', '{"n":1}')];
    case 'idle':
      return () => new Promise<never>(() => {});
    case 'empty':
      return [finish('stop')];
    case 'pause':
      return [...textParts('wait'), finish('stop', 'pause_turn')];
  }
}

type Metadata = { providerMetadata?: ProviderMetadata };

/** What a provider hangs on its parts and wants to get back; see `history-rules.ts`. */
function ownParts(provider: NativeProvider, count: number) {
  const seal = `${provider}:${count}`;
  const item = (id: string): Metadata => ({ providerMetadata: { openai: { itemId: id } } });
  const thought: Metadata = { providerMetadata: { google: { thoughtSignature: seal } } };
  const reasoning: Record<NativeProvider, ProviderMetadata | undefined> = {
    anthropic: { anthropic: { signature: seal } },
    openai: { openai: { itemId: `rs_${count}`, reasoningEncryptedContent: seal } },
    google: undefined,
  };
  const ofText = { anthropic: {}, openai: item(`msg_${count}`), google: thought }[provider];
  const parts: LanguageModelV4StreamPart[] = [
    { type: 'reasoning-start', id: 'r', ...present({ providerMetadata: reasoning[provider] }) },
    { type: 'reasoning-delta', id: 'r', delta: 'hm' },
    { type: 'reasoning-end', id: 'r', ...present({ providerMetadata: reasoning[provider] }) },
  ];
  return {
    reasoning: parts,
    text: (text: string) => textParts(text).map((part) => ({ ...part, ...ofText })),
    ofCall: (index: number): Metadata => {
      if (provider === 'openai') return item(`fc_${count}_${index}`);
      return provider === 'google' && index === 0 ? thought : {};
    },
  };
}

const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
const outputSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value));

/** What tools in JavaScript return by mistake. */
const WRONG_OUTPUTS: readonly unknown[] = [
  ...[undefined, null, 7, [], {}, { content: 7 }, { content: [undefined] }, { content: [{ type: 'video' }] }],
  { content: [{ type: 'text' }] },
  { content: [{ type: 'image', mediaType: 'image/png', data: 'data:image/png;base64,AAAA' }] },
  { content: [{ type: 'image', mediaType: 'image/tiff', data: 'AAAA' }] },
];
const HUGE = 'half \ud83d '.repeat(2_000);

function raise(thrown: unknown): never {
  throw thrown;
}

/** Settles after an abort that came when its call began. */
function rejectsLater(): Promise<never> {
  return new Promise((_, reject) => setImmediate(reject, new Error('too late \udead')));
}

/** A session of a plan: the first, or one that was restored from a snapshot of the one before. */
export type Life = { session: Session; events: SessionEvent[]; submits: number };
export type SentRequest = { provider: NativeProvider; options: LanguageModelV4CallOptions };

export type RandomRun = {
  lives: Life[];
  /** Of the sessions, of their subagents and of their forks. */
  requests: SentRequest[];
  /** What became of inputs with malformed parts. */
  refusals: { errors: unknown[]; kept: boolean }[];
  snapshots: SessionSnapshot[];
  /** What the last session would send next, after its last snapshot, as JSON; absent where it was closed before. */
  next?: string;
  /** For a session that is restored from one of the snapshots. */
  options: Pick<SessionOptions, 'profile' | 'environment'>;
};

/** A host with its session, which `restore` replaces. */
type Host = {
  session: Session;
  snapshots: SessionSnapshot[];
  background: Promise<unknown>[];
  begin(snapshot: SessionSnapshot): void;
  modelOf(provider: NativeProvider): ReturnType<typeof scriptedModel>;
};

/** Runs a plan to its end: every input, every fork, and the close. */
export async function runPlan(plan: Plan, environment: ExecutionEnvironment): Promise<RandomRun> {
  const { actions, duringCalls, duringTools, answers, inputs, steeringMode, effort } = clone(plan);
  const lives: Life[] = [];
  const requests: SentRequest[] = [];
  const steps = [...actions];
  let responses = 0;
  let isOver = false;
  const make = (given: Move | undefined) => {
    if (isOver || lives.length === 0 || host.session.state === 'CLOSED') return;
    const later = hostMove(given, host);
    if (later) host.background.push(later.catch(() => {}));
  };
  const modelOf = (provider: NativeProvider) => {
    const endless: ModelStep = (options) => {
      requests.push({ provider, options });
      make(duringCalls.shift());
      const next = steps.shift();
      return next ? toStep(next, provider, responses++) : says('done');
    };
    return {
      ...scriptedModel(Array(200).fill(endless), NATIVE_PROVIDERS[provider].modelProvider),
      modelId: MODELS[provider],
    };
  };

  const profile = randomProfile(() => make(duringTools.shift()));
  const options: SessionOptions = {
    profile,
    environment,
    model: modelOf('anthropic'),
    clock: { ...systemClock, random: () => 0, sleep: async () => {} },
    priceOf: () => 0.001,
    config: {
      maxToolRoundsPerInput: 6,
      streamIdleTimeoutMs: 2,
      maxRetries: 1,
      steeringMode,
      maxLoopWarnings: 2,
      toolOutputLimits: { odd: 300, huge: 1_000 },
      ...(effort === 'high' && { reasoningEffort: effort }),
    },
    ...answering(answers),
  };
  const live = (session: Session): Session => {
    const events: SessionEvent[] = [];
    lives.push({ session, events, submits: 0 });
    session.on((event) => events.push(event));
    return session;
  };
  const host: Host = {
    session: live(new Session(options)),
    snapshots: [],
    background: [],
    begin: (snapshot) => {
      host.session = live(Session.restore(clone(snapshot), { ...options, model: modelOf('google') }));
    },
    modelOf,
  };
  const refusals: RandomRun['refusals'] = [];
  for (const input of inputs) {
    await Promise.all(host.background);
    const { session } = host;
    const life = lives.at(-1);
    if (session.state === 'CLOSED' || !life) break;
    if (input === 'malformed') {
      refusals.push(await refusalOfInputs(session));
      continue;
    }
    const resumed = input === 'resume' && session.state === 'AWAITING_INPUT';
    const chain = resumed
      ? session.resume({})
      : session.submit('go \ud83d on', input === 'schema' ? { outputSchema } : {});
    life.submits += await chain.then(
      () => 1,
      (error) => {
        // A session may have been closed meanwhile. Any other rejection is a fault of the loop.
        if (!(error instanceof SessionStateError)) throw error;
        return 0;
      },
    );
  }
  isOver = true;
  await Promise.all(host.background);
  const { session, snapshots } = host;
  snapshots.push(clone(await session.snapshot()));
  answers.length = 0;
  const next = await session.fork().then(sendNext, () => undefined);
  await session.close();
  return { lives, requests, refusals, snapshots, options: { profile, environment }, ...present({ next }) };
}

function randomProfile(duringTool: () => void) {
  let returned = 0;
  const profile = createOpenAiProfile({ model: 'm' });
  const register = (
    name: string,
    executor: () => ToolOutput | Promise<ToolOutput>,
    concurrency: 'shared' | 'exclusive',
  ) =>
    profile.toolRegistry.register(
      defineTool({
        definition: { name, description: name, parameters },
        concurrency,
        executor: () => {
          duringTool();
          return executor();
        },
      }),
    );
  register('good', () => 'fine', 'shared');
  register('strict', () => 'fine', 'exclusive');
  register('odd', () => '\ud83d half \0 and '.repeat(100), 'shared');
  register('slow', () => new Promise((resolve) => setImmediate(resolve, 'late')), 'shared');
  register('deaf', () => new Promise((resolve) => setTimeout(resolve, 1, 'at last')), 'exclusive');
  register('throws', () => Promise.reject(new Error('no \udead')), 'exclusive');
  register('throws_at_once', () => raise(new Error('no \udead')), 'shared');
  register('throws_nothing', () => raise(undefined), 'shared');
  register('returns', () => WRONG_OUTPUTS[returned++ % WRONG_OUTPUTS.length] as ToolOutput, 'shared');
  register('huge', () => HUGE, 'shared');
  register('late_failure', rejectsLater, 'exclusive');
  return profile;
}

const MALFORMED = [
  [{ type: 'image', mediaType: 'image/png' }],
  [{ type: 'text', text: 'look' }, { type: 'video', data: 'AAAA' }],
  [{ type: 'image', mediaType: 'image/tiff', data: 'AAAA' }],
  [null],
] as unknown as Input[];

/** Submits, steers and queues malformed inputs. */
async function refusalOfInputs(session: Session): Promise<RandomRun['refusals'][number]> {
  const errors: unknown[] = [];
  for (const input of MALFORMED) {
    errors.push(await session.submit(input).catch((error: unknown) => error));
    for (const method of ['steer', 'followUp'] as const)
      errors.push(
        await Promise.resolve()
          .then(() => session[method](input))
          .catch((error: unknown) => error),
      );
  }
  const { turns, steering = [], followUps = [] } = await session.snapshot();
  const messages = turns.flatMap((turn) => ('content' in turn ? [turn.content] : []));
  // Every other input of the plan is a text.
  return { errors, kept: [...messages, ...steering, ...followUps].some((input) => typeof input !== 'string') };
}

/** The messages of the request that the next input leads to, as JSON, without those that tell where and when. */
export async function sendNext(session: Session): Promise<string> {
  const model = scriptedModel([says('ok')], 'anthropic.messages');
  session.setModel(model);
  await session.submit('after');
  await session.close();
  return JSON.stringify(model.requests[0]?.prompt.slice(2));
}

function hostMove(given: Move | undefined, host: Host): Promise<unknown> | undefined {
  const { session, snapshots } = host;
  switch (given) {
    case 'interrupt':
      return session.interrupt();
    case 'close':
      return session.close();
    case 'steer':
      session.steer('turn \ud83d left');
      return undefined;
    case 'follow_up':
      session.followUp('and then');
      return undefined;
    case 'snapshot':
      return session.snapshot().then((snapshot) => snapshots.push(clone(snapshot)));
    case 'restore':
      return session.snapshot().then(async (snapshot) => {
        // Two moves at once may have the same session in mind.
        if (host.session === session) host.begin(snapshot);
        await session.close();
      });
    case 'fork':
      return session.fork().then(async (fork) => {
        await fork.submit('elsewhere').catch(() => {});
        await fork.close();
      });
    case 'to_openai':
    case 'to_anthropic':
    case 'to_google':
      session.setModel(host.modelOf(given.slice('to_'.length) as NativeProvider));
      return undefined;
    default:
      return undefined;
  }
}

/** Hooks and an approval that say what the plan has for them. */
function answering(answers: Plan['answers']): {
  hooks: Hooks;
  approve: NonNullable<SessionOptions['approve']>;
} {
  const next = () => {
    const given = answers.shift() ?? 'yes';
    if (given === 'throw') throw new Error('hook \udead');
    return given;
  };
  return {
    approve: () => {
      const given = next();
      if (given === 'no') return { decision: 'denied', reason: 'no \ud83d' };
      return { decision: given === 'park' ? 'parked' : 'approved' };
    },
    hooks: {
      beforeSubmit: () => (next() === 'no' ? { decision: 'block', reason: 'no' } : undefined),
      beforeTool: ({ args }) => (next() === 'change' ? { args: { ...args, n: 2 } } : undefined),
      afterTool: () => (next() === 'change' ? { content: 'else \ud83d' } : undefined),
      beforeStop: () => (next() === 'change' ? { continueWith: 'more \ud83d' } : undefined),
      onContextOverflow: ({ turns }) => (next() === 'yes' ? { turns: turns.slice(-2) } : undefined),
    },
  };
}
