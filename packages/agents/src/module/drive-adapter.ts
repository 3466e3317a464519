import { messageOf, WhetstoneError } from '@whetstone/errors';
import {
  isJsonObject,
  type JsonValue,
  parseStreamEvent,
  type StreamEvent,
  type Usage,
  usageSchema,
} from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Agent, AgentContext, Turn, TurnExit, TurnInput } from '../agent.ts';
import { stoppedMessages } from '../kit/stopped-messages.ts';
import { createTurnEvents } from '../kit/turn-events.ts';
import { removeO11yContext } from './shared/o11y-context.ts';
import { sandboxForTurn } from './turn-sandbox.ts';

/** How long an adapter may work after its turn has been stopped. This is enough to read a transcript. */
const GRACE_MS = 10_000;
const STATUSES: readonly unknown[] = ['completed', 'failed', 'waiting'] satisfies Turn['status'][];

export type DriveOptions = {
  /** For every command that the adapter runs in the sandbox. */
  env?: Readonly<Record<string, string>>;
  /** Default: 10 s. */
  graceMs?: number;
};

/**
 * Drives one turn of an adapter that somebody else wrote. This function enforces the time limit and checks the turn: at
 * the limit the signal fires and running commands end, and an adapter that does not return soon afterwards is no longer
 * waited for. Each event of the turn is emitted once, whether the adapter emitted it or returned it.
 *
 * @throws WhetstoneError `agent-adapter-failed` when `send` rejects by itself or returns something that is not a turn.
 */
export async function driveAdapter(
  agent: Agent,
  input: TurnInput,
  context: AgentContext,
  { env = {}, graceMs = GRACE_MS }: DriveOptions = {},
): Promise<Turn> {
  using clock = startTurnClock(context, graceMs);
  const { signal } = clock;
  const events = collectAdapterEvents(context);
  // An adapter listens for the event, so a signal that has already fired would not stop it.
  if (signal.aborted) return stoppedTurn(undefined, events, 'abort');
  const sandbox = context.sandbox && sandboxForTurn(context.sandbox, { signal, graceMs, env });
  const own = { ...context, signal, emit: events.emit, ...present({ sandbox }) };
  const sent = await Promise.race([send(agent, input, own), clock.graceOver]);
  events.close();
  const ended = clock.ended();
  if (context.sandbox) await removeO11yContext(context.sandbox);
  if (ended !== 'exit') return stoppedTurn(sent, events, ended);
  if (sent?.kind === 'threw') throw adapterFailed(agent, `failed: ${messageOf(sent.error)}`, sent.error);
  return finishedTurn(agent, sent?.turn, events);
}

type Sent = { kind: 'returned'; turn: unknown } | { kind: 'threw'; error: unknown };

async function send(agent: Agent, input: TurnInput, context: AgentContext): Promise<Sent> {
  try {
    return { kind: 'returned', turn: await agent.send(input, context) };
  } catch (error) {
    return { kind: 'threw', error };
  }
}

function finishedTurn(agent: Agent, turn: unknown, events: AdapterEvents): Turn {
  if (!isJsonObject(turn) || !Array.isArray(turn.events) || !STATUSES.includes(turn.status)) {
    throw adapterFailed(agent, 'did not return a turn: an object with `events` and `status`.');
  }
  for (const event of turn.events) events.add(event);
  const { exit, ...rest } = turn as Turn;
  const usage = readUsage(rest.usage, events);
  const message = exit?.message ?? (rest.status === 'failed' ? lastError(events.events) : undefined);
  return {
    ...rest,
    usage,
    events: events.events,
    exit: { ended: 'exit', ...exit, ...present({ message }) },
  };
}

/** A turn that the host ended: it has what the adapter still returned, and has failed whatever its status says. */
function stoppedTurn(sent: Sent | undefined, events: AdapterEvents, ended: 'abort' | 'timeout'): Turn {
  const turn = sent?.kind === 'returned' && isJsonObject(sent.turn) ? sent.turn : {};
  if (Array.isArray(turn.events)) for (const event of turn.events) events.add(event);
  const usage = readUsage(turn.usage, events);
  const message = stoppedMessages[ended];
  events.add({ type: 'error', message, source: 'host' });
  return { events: events.events, status: 'failed', usage, exit: { ended, message } };
}

/** A usage that is not in whole tokens would make every sum wrong. It is kept as a `raw` event and not counted. */
function readUsage(usage: unknown, events: AdapterEvents): Usage | undefined {
  if (usage === undefined) return undefined;
  const parsed = usageSchema.safeParse(usage);
  if (!parsed.success) events.add({ type: 'usage', usage });
  return parsed.data;
}

function lastError(events: readonly StreamEvent[]): string | undefined {
  return events.findLast((event) => event.type === 'error')?.message;
}

function adapterFailed(agent: Agent, what: string, cause?: unknown): WhetstoneError {
  return new WhetstoneError('agent-adapter-failed', `Adapter ${agent.name} ${what}`, {
    hint: 'A failure of the agent itself is a turn with status: "failed".',
    cause,
  });
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The time limit of one turn. Its timers keep the process alive, because what an adapter waits for may not. */
function startTurnClock(
  { signal: aborted, timeoutMs }: Pick<AgentContext, 'signal' | 'timeoutMs'>,
  graceMs: number,
) {
  const limit = new AbortController();
  const timers = [setTimeout(() => limit.abort(timedOut()), Math.min(timeoutMs, LONGEST_TIMER_MS))];
  const signal = AbortSignal.any([aborted, limit.signal]);
  const over = Promise.withResolvers<undefined>();
  const startGrace = () => {
    timers.push(setTimeout(() => over.resolve(undefined), graceMs));
  };
  if (signal.aborted) startGrace();
  else signal.addEventListener('abort', startGrace, { once: true });
  return {
    /** Fires at the time limit, and when the run is aborted. */
    signal,
    /** Why the turn was ended; `exit` as long as it was not. */
    ended: (): TurnExit['ended'] => (aborted.aborted ? 'abort' : limit.signal.aborted ? 'timeout' : 'exit'),
    /** Resolves `graceMs` after the signal has fired. */
    graceOver: over.promise,
    [Symbol.dispose]() {
      signal.removeEventListener('abort', startGrace);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

const timedOut = () => new DOMException('The turn has reached its time limit.', 'TimeoutError');

type AdapterEvents = ReturnType<typeof collectAdapterEvents>;

/** The events of one turn of an adapter. An adapter may emit an event, return it with the turn, or both. */
function collectAdapterEvents(context: Pick<AgentContext, 'emit'>) {
  const turn = createTurnEvents(context);
  const emitted = new Set<unknown>();
  let isClosed = false;
  return {
    events: turn.events,
    emit(event: StreamEvent): void {
      if (isClosed) return;
      emitted.add(event);
      turn.add(toEvent(event));
    },
    /** Adds an event of the returned turn, unless the adapter has emitted it already. */
    add(event: unknown): void {
      if (!emitted.has(event)) turn.add(toEvent(event));
    },
    /** Ends the turn: events that the adapter emits afterwards are dropped. */
    close(): void {
      isClosed = true;
    },
  };
}

/** A value that is not an event becomes a `raw` event, as far as JSON can hold the value. */
function toEvent(value: unknown): StreamEvent {
  return parseStreamEvent(value) ?? { type: 'raw', native: toJson(value) };
}

function toJson(value: unknown): JsonValue {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null');
  } catch {
    return String(value); // a cycle or a bigint
  }
}
