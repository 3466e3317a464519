import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises';
import type {
  AgentCapabilities,
  PolicyDecision,
  PolicyRequest,
  StreamEvent,
  Turn,
  TurnInput,
  Usage,
} from '@whetstone/agents';
import { deriveObservability } from '@whetstone/agents/evals';
import { replyText } from '@whetstone/events/reading';
import { addUsage } from '@whetstone/events/usage';
import {
  type FileChange,
  type IndexedEvent,
  type PendingAssertion,
  SkipEval,
  StopEval,
  type Subject,
} from '../assertions/assertion.ts';
import { createAssert } from '../assertions/create-assert.ts';
import { createAssertions } from '../assertions/create-assertions.ts';
import { requireArgument, requireKeys, requireText } from '../expect/arguments.ts';
import type { JudgedPart } from '../judge/judgement.ts';
import type { SentTurn, Settled, TestCalls, Tested, TestRequest } from '../protocol.ts';
import type { Answer, Responder, SimulatedUser } from '../test-context.ts';
import { cleanRoomOf } from './clean-room-assertions.ts';
import { converse } from './converse.ts';
import { judgeOf } from './judge-assertion.ts';
import { findDefinition } from './load-evals.ts';
import { answerTo, decisionBy, openRequest } from './respond.ts';
import { failureOf } from './stack-position.ts';

/** `text`: the message that began the turn. */
type Sent = SentTurn & { session: number; text: string };

/** What is known of an attempt while its code runs: shared by `t`, its sessions and its turns. */
type Attempt = {
  request: TestRequest;
  calls: TestCalls;
  turns: Sent[];
  pending: PendingAssertion[];
  /** By session. */
  responders: Map<number, Responder>;
  /** The heading of the assertions that are being made. */
  group: string | undefined;
  signal: AbortSignal;
};

/** One attempt at an eval: `run` calls its test function, `settle` judges its assertions. */
export type RunningTest = {
  run(): Promise<Tested>;
  settle(): Promise<Settled>;
  /** What the eval answers to a question of the agent; `undefined` leaves it to the policy. */
  decide(session: number, request: PolicyRequest): Promise<PolicyDecision | undefined>;
};

export function startTest(
  request: TestRequest,
  host: { calls: TestCalls; log: (text: string) => void; signal: AbortSignal; broken: Promise<never> },
): RunningTest {
  const { calls, signal } = host;
  const attempt: Attempt = {
    request,
    calls,
    signal,
    turns: [],
    pending: [],
    group: undefined,
    responders: new Map(),
  };
  return {
    async run() {
      try {
        const { test } = await findDefinition(request.file, request.key);
        // What the code leaves behind can throw as well: a promise that nobody awaits, or a timer.
        await Promise.race([test(contextOf(attempt, host.log) as never), host.broken]);
        await Promise.race([leftBehind(), host.broken]);
        return {};
      } catch (error) {
        if (error instanceof SkipEval) return { skipped: error.message };
        return error instanceof StopEval ? {} : { failure: failureOf(error) };
      }
    },
    decide: (session, asked) => decisionBy(attempt.responders.get(session), asked),
    settle: async () => ({ assertions: await Promise.all(attempt.pending.map((one) => one.settle())) }),
  };
}

/** A timer waits for a millisecond at least, which is longer than the code of most evals takes. */
const leftBehind = (): Promise<unknown> =>
  process.getActiveResourcesInfo().includes('Timeout') ? pause(0) : nextRound();

function contextOf(attempt: Attempt, log: (text: string) => void): object {
  const { request, signal } = attempt;
  let sessions = 0;
  const first = sessionOf(attempt, sessions++, () => true, 'attempt');
  return Object.defineProperties(
    Object.assign(first, {
      ...{ flags: request.flags, model: request.model, signal },
      newSession() {
        const session = sessions++;
        return sessionOf(attempt, session, (turn) => turn.session === session, 'session');
      },
      log: (message: string) => log(String(message)),
      judgeLane: () => attempt.calls.judgeLane(),
      skip(reason: string): never {
        const why = String(reason ?? '').trim();
        if (why === '') throw new RangeError('skip(): give the reason, which every report shows.');
        throw new SkipEval(why);
      },
      group(name: string, body: () => unknown) {
        requireText('group()', name, 'a name and a function');
        requireArgument(typeof body === 'function', 'group()', 'a name and a function', body);
        const outer = attempt.group;
        attempt.group = outer === undefined ? name : `${outer} › ${name}`;
        const leave = () => {
          attempt.group = outer;
        };
        let result: unknown;
        try {
          result = body();
        } catch (error) {
          leave();
          throw error;
        }
        if (result instanceof Promise) return result.finally(leave);
        leave();
        return result;
      },
    }),
    { o11y: { get: () => deriveObservability(attempt.turns.flatMap(({ events }) => events)) } },
  );
}

/** `t` itself, which sees the turns of all sessions, or a session, which sees its own. */
function sessionOf(
  attempt: Attempt,
  session: number,
  isSeen: (turn: Sent) => boolean,
  scope: Subject['scope'],
): object {
  const seen = cached(attempt, isSeen);
  const made = assertionsOf(
    attempt,
    () => ({ ...seen(), scope }),
    () => attempt.turns.filter(isSeen),
  );
  const own = () => attempt.turns.filter((turn) => turn.session === session);
  const send = async (input: TurnInput): Promise<object> => {
    const sent = await attempt.calls.send(session, input, attempt.responders.has(session));
    const turn: Sent = { ...sent, session, text: input.text };
    attempt.turns.push(turn);
    return turnOf(attempt, turn);
  };
  return Object.defineProperties(
    Object.assign(made, {
      async send(message: string | TurnInput, options: Partial<TurnInput> = {}) {
        const input = { ...(typeof message === 'string' ? { text: message } : message), ...options };
        requireKeys('send()', input, ['text', 'items', 'response', 'outputSchema']);
        requireArgument(
          typeof input.text === 'string',
          'send()',
          'a text, or an object with `text`',
          message,
        );
        return send(input);
      },
      converse: (user: SimulatedUser) =>
        converse(user, {
          send: async (text) => (await send({ text })) as { status: string; reply: string },
          ask: attempt.calls.user,
        }),
      respond(answer: Answer | Responder) {
        const turns = own();
        if (typeof answer !== 'function') return send(answerTo(openRequest(turns.at(-1)), answer));
        if (turns.length > 0) {
          throw new RangeError('respond(): set the responder before the first message of its session.');
        }
        attempt.responders.set(session, answer);
        return undefined;
      },
    }),
    fieldsOf(seen),
  );
}

function turnOf(attempt: Attempt, turn: Sent): object {
  const subject = subjectOf(attempt, [turn]);
  const made = assertionsOf(
    attempt,
    () => ({ ...subject, scope: 'turn' }),
    () => [turn],
  );
  const { status, data } = turn;
  return Object.defineProperties(
    Object.assign(made, { status, data }),
    fieldsOf(() => subject),
  );
}

const fieldsOf = (subject: () => Omit<Subject, 'scope'>): PropertyDescriptorMap => ({
  reply: { get: () => subject().reply, enumerable: true },
  events: { get: () => subject().events.map(({ event }) => event), enumerable: true },
  usage: { get: () => subject().usage, enumerable: true },
  costUsd: { get: () => subject().costUsd, enumerable: true },
});

function assertionsOf(attempt: Attempt, subject: () => Subject, turns: () => readonly Sent[]): object {
  const record = (made: PendingAssertion) => {
    const { group } = attempt;
    attempt.pending.push(
      group === undefined ? made : { settle: async () => ({ ...(await made.settle()), group }) },
    );
  };
  const { diff, ...assertions } = createAssertions(subject, record, { masked: attempt.calls.masked });
  const assert = createAssert(record);
  const { calls } = attempt;
  return {
    ...{ ...assertions, ...cleanRoomOf(assert, calls.check), sandbox: { diff } },
    ...judgeOf(assert, calls.judge, () => materialOf(turns())),
  };
}

const materialOf = (turns: readonly Sent[]): JudgedPart[] =>
  turns.flatMap(({ text, events, firstIndex }) => [
    { user: text },
    ...events.map((event, offset) => ({ event, index: firstIndex + offset })),
  ]);

/** The same subject as long as no turn was added, so that assertions share what they derive from it. */
function cached(attempt: Attempt, isSeen: (turn: Sent) => boolean): () => Omit<Subject, 'scope'> {
  let known: { turns: number; subject: Omit<Subject, 'scope'> } | undefined;
  return () => {
    if (known?.turns !== attempt.turns.length) {
      known = { turns: attempt.turns.length, subject: subjectOf(attempt, attempt.turns.filter(isSeen)) };
    }
    return known.subject;
  };
}

function subjectOf({ request, calls }: Attempt, turns: readonly Sent[]): Omit<Subject, 'scope'> {
  const events: IndexedEvent[] = turns.flatMap((turn) =>
    turn.events.map((event, offset) => ({ index: turn.firstIndex + offset, event })),
  );
  const last = turns.at(-1);
  const capabilities: AgentCapabilities = request.capabilities;
  return {
    ...{ events, capabilities, turnStarts: turns.map(({ firstIndex }) => firstIndex) },
    usage: sumOf(turns, usageOf, addUsage),
    costUsd: sumOf(
      turns,
      ({ costUsd }) => costUsd,
      (a, b) => a + b,
    ),
    reply: replyText(events.map(({ event }) => event)),
    data: last?.data,
    ...(last && { status: last.status satisfies Turn['status'] }),
    ...(capabilities.workspace && { changes: () => changesOf(calls) }),
  };
}

/** The usage that a turn reports, in total or call by call. */
function usageOf({ usage, events }: Sent): Usage | undefined {
  const calls = events.filter((event: StreamEvent) => event.type === 'usage');
  return usage ?? sumOf(calls, (call) => call.usage, addUsage);
}

/** A sum with an unknown part is unknown. */
function sumOf<Part, Value extends object | number>(
  parts: readonly Part[],
  read: (part: Part) => Value | undefined,
  sum: (a: Value, b: Value) => Value,
): Value | undefined {
  const known = parts.flatMap((part) => read(part) ?? []) as Value[];
  return known.length === parts.length && known.length > 0 ? known.reduce(sum) : undefined;
}

async function changesOf(calls: TestCalls): Promise<FileChange[]> {
  const changes = (await calls.changes()) ?? [];
  return changes.map((change) => ({
    ...change,
    before: () => calls.content(change.path, 'before'),
    after: () => calls.content(change.path, 'after'),
  }));
}
