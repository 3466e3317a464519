import { present } from '@whetstone/events/present';
import os from 'node:os';
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { APICallError } from '@ai-sdk/provider';
import fc from 'fast-check';
import { systemClock } from '../control/clock.ts';
import { LocalExecutionEnvironment } from '../environment/local-environment.ts';
import type { Hooks } from '../control/hooks.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import { Session } from '../session/session.ts';
import type { Input } from '../conversation/turn.ts';
import type { SessionEvent } from '../events/session-event.ts';
import { type SessionOptions, SessionStateError } from '../session/session-options.ts';
import type { SessionSnapshot } from '../conversation/snapshot.ts';
import { defineTool, type ToolOutput } from '../tools/tool.ts';
import { finish, type ModelStep, says, scriptedModel, textParts, toolCall } from './scripted-model.ts';

/** What the model does at one call. */
type Action =
  | { kind: 'text'; text: string }
  | {
      kind: 'tools';
      names: string[];
      ids: string[];
      input: string;
      finish: 'tool-calls' | 'length' | 'content-filter';
    }
  | { kind: 'fail'; status: 400 | 413 | 429 | 500 }
  | { kind: 'reset' | 'break_off' | 'idle' | 'empty' | 'pause' };
/** What the host does meanwhile. */
type Move = 'nothing' | 'interrupt' | 'steer' | 'follow_up' | 'snapshot' | 'fork' | 'other_model' | 'close';
export type Plan = {
  actions: Action[];
  duringCalls: Move[];
  duringTools: Move[];
  /** What hooks and approvals answer, in the order in which they are asked. */
  answers: ('yes' | 'no' | 'park' | 'throw' | 'change')[];
  inputs: ('plain' | 'resume' | 'schema' | 'malformed')[];
  steeringMode: 'after_round' | 'tool_boundary';
};

const oddText = fc.string({ unit: fc.constantFrom('a', '\ud83d', '\ude00', '😀', '\0', '\n'), maxLength: 6 });
const toolName = fc.constantFrom(
  ...['good', 'good', 'throws', 'odd', 'slow', 'unknown.tool', 'strict', 'deaf'],
  ...['throws_at_once', 'throws_nothing', 'returns', 'huge', 'late_failure'],
  ...['spawn_agent', 'wait', 'send_input', 'close_agent'],
);
const INPUTS = [
  '{}',
  '{"n":1}',
  '{"n":',
  '[]',
  '',
  '{"n":"\\ud83d"}',
  '{"task":"look","agent_id":"x","message":"m"}',
];
const finishReason = fc.constantFrom(
  ...(['tool-calls', 'tool-calls', 'tool-calls', 'length', 'content-filter'] as const),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('text' as const), text: oddText }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('tools' as const),
      names: fc.array(toolName, { minLength: 1, maxLength: 4 }),
      // Ids repeat within a response and across them, or are missing.
      ids: fc.array(fc.constantFrom('', 'a', 'b', 'c'), { minLength: 4, maxLength: 4 }),
      input: fc.constantFrom(...INPUTS),
      finish: finishReason,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fail' as const),
      status: fc.constantFrom(...([429, 429, 500, 500, 400, 413] as const)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(['reset', 'reset', 'break_off', 'break_off', 'empty', 'pause', 'idle'] as const),
      ),
    }),
  },
);
const move = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Move>('nothing') },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Move>('interrupt', 'steer', 'follow_up', 'snapshot', 'fork', 'other_model'),
  },
  { weight: 1, arbitrary: fc.constantFrom<Move>('nothing', 'nothing', 'close') },
);
const answer = fc.constantFrom(...(['yes', 'yes', 'yes', 'yes', 'no', 'park', 'throw', 'change'] as const));

export const randomPlan: fc.Arbitrary<Plan> = fc.record({
  actions: fc.array(action, { maxLength: 12 }),
  duringCalls: fc.array(move, { maxLength: 12 }),
  duringTools: fc.array(move, { maxLength: 12 }),
  answers: fc.array(answer, { maxLength: 12 }),
  inputs: fc.array(fc.constantFrom(...(['plain', 'plain', 'resume', 'schema', 'malformed'] as const)), {
    minLength: 1,
    maxLength: 4,
  }),
  steeringMode: fc.constantFrom('after_round', 'tool_boundary'),
});

function toStep(what: Action): ModelStep {
  switch (what.kind) {
    case 'text':
      return [...reasoningParts, ...textParts(what.text), finish('stop')];
    case 'tools': {
      const parts = what.names.map((name, index) => toolCall(name, what.input, what.ids[index] ?? ''));
      return [...reasoningParts, ...textParts('working'), ...parts, finish(what.finish)];
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

const reasoningParts: LanguageModelV4StreamPart[] = [
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: 'hm' },
  { type: 'reasoning-end', id: 'r', providerMetadata: { anthropic: { signature: 's' } } },
];

const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
/** Shared by all sessions; whoever runs them cleans it up. */
export const environment = new LocalExecutionEnvironment({ workingDirectory: os.tmpdir() });
const outputSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value));

/** What tools in JavaScript return by mistake. */
const WRONG_OUTPUTS: readonly unknown[] = [
  ...[undefined, null, 7, [], {}, { content: 7 }, { content: [undefined] }, { content: [{ type: 'video' }] }],
  { content: [{ type: 'text' }] },
  { content: [{ type: 'image', mediaType: 'image/png', data: 'data:image/png;base64,AAAA' }] },
  { content: [{ type: 'image', mediaType: 'image/tiff', data: 'AAAA' }] },
];
const HUGE = 'half \ud83d '.repeat(20_000);

function raise(thrown: unknown): never {
  throw thrown;
}

/** Settles after an abort that came when its call began. */
function rejectsLater(): Promise<never> {
  return new Promise((_, reject) => setImmediate(reject, new Error('too late \udead')));
}

export type RandomRun = {
  session: Session;
  events: SessionEvent[];
  /** Of the session, of its subagents and of its forks. */
  requests: LanguageModelV4CallOptions[];
  submits: number;
  /** What became of inputs with malformed parts. */
  refusals: { errors: unknown[]; kept: boolean }[];
  snapshots: SessionSnapshot[];
  /** What the session would send next, after its last snapshot, as JSON; absent where it was closed before. */
  next?: string;
  /** For a session that is restored from one of the snapshots. */
  options: Pick<SessionOptions, 'profile' | 'environment'>;
};

/** Runs a plan to its end: every input, every fork, and the close. */
export async function runPlan(plan: Plan): Promise<RandomRun> {
  const { actions, duringCalls, duringTools, answers, inputs, steeringMode } = clone(plan);
  const events: SessionEvent[] = [];
  const snapshots: SessionSnapshot[] = [];
  const background: Promise<unknown>[] = [];
  const host = { session: undefined as Session | undefined };
  const make = (given: Move | undefined) => {
    const { session } = host;
    if (!session || session.state === 'CLOSED') return;
    const later = hostMove(given, session, snapshots, () => modelOf('openai.responses'));
    if (later) background.push(later.catch(() => {}));
  };

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
          make(duringTools.shift());
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

  const requests: LanguageModelV4CallOptions[] = [];
  const steps = [...actions];
  const modelOf = (provider: string) => {
    const endless: ModelStep = (options) => {
      requests.push(options);
      make(duringCalls.shift());
      const next = steps.shift();
      return next ? toStep(next) : says('done');
    };
    return scriptedModel(
      Array.from({ length: 200 }, () => endless),
      provider,
    );
  };
  const session = new Session({
    profile,
    environment,
    model: modelOf('anthropic.messages'),
    clock: { ...systemClock, random: () => 0, sleep: async () => {} },
    config: {
      maxToolRoundsPerInput: 6,
      streamIdleTimeoutMs: 2,
      maxRetries: 1,
      steeringMode,
      maxLoopWarnings: 2,
      toolOutputLimits: { odd: 300 },
    },
    ...answering(answers),
  });
  host.session = session;
  session.on((event) => events.push(event));
  let submits = 0;
  const refusals: RandomRun['refusals'] = [];
  for (const input of inputs) {
    if (session.state === 'CLOSED') break;
    if (input === 'malformed') {
      refusals.push(await refusalOf(session));
      continue;
    }
    const resumed = input === 'resume' && session.state === 'AWAITING_INPUT';
    const chain = resumed
      ? session.resume({})
      : session.submit('go \ud83d on', input === 'schema' ? { outputSchema } : {});
    submits += await chain.then(
      () => 1,
      (error) => {
        // A session may have been closed meanwhile. Any other rejection is a fault of the loop.
        if (!(error instanceof SessionStateError)) throw error;
        return 0;
      },
    );
  }
  await Promise.all(background);
  snapshots.push(clone(await session.snapshot()));
  answers.length = 0;
  const next = await session.fork().then(sendNext, () => undefined);
  await session.close();
  const options = { profile, environment };
  return { session, events, requests, submits, refusals, snapshots, options, ...present({ next }) };
}

const MALFORMED = [
  [{ type: 'image', mediaType: 'image/png' }],
  [{ type: 'text', text: 'look' }, { type: 'video', data: 'AAAA' }],
  [{ type: 'image', mediaType: 'image/tiff', data: 'AAAA' }],
  [null],
] as unknown as Input[];

/** Submits, steers and queues malformed inputs. */
async function refusalOf(session: Session): Promise<RandomRun['refusals'][number]> {
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

function hostMove(
  given: Move | undefined,
  session: Session,
  snapshots: SessionSnapshot[],
  otherModel: () => ReturnType<typeof scriptedModel>,
): Promise<unknown> | undefined {
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
    case 'fork':
      return session.fork().then(async (fork) => {
        await fork.submit('elsewhere').catch(() => {});
        await fork.close();
      });
    case 'other_model':
      session.setModel(otherModel());
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
