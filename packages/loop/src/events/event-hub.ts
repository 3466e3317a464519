import { messageOf, WhetstoneError } from '@whetstone/errors';
import type { Emit, SessionEvent } from './session-event.ts';

/** Contract: is called synchronously, so it must be quick. One that throws is removed. */
export type EventListener = (event: SessionEvent) => void;

/** Events other than deltas that one iterator may leave unread before it fails. */
const QUEUE_LIMIT = 10_000;
/** Characters of a command's output that one unread delta keeps, the last ones. Text of the model is never cut. */
const OUTPUT_DELTA_LIMIT = 64 * 1024;

/** A consumer of `events()` has left more events unread than its queue holds. It has to read faster, or use `on()`. */
export class EventQueueOverflowError extends WhetstoneError {
  override readonly name = 'EventQueueOverflowError';

  constructor(limit: number) {
    super('event-queue-full', `events(): more than ${limit} events are unread.`);
  }
}

/**
 * Delivers events to any number of consumers. A consumer that attaches late still gets `SESSION_START` first. An unread
 * delta absorbs the deltas that follow it from the same source, and a full queue drops its deltas. All other events arrive
 * one by one and none is dropped: a consumer that has left too many of them unread reads those first, then the error.
 */
export class EventHub {
  readonly #sessionId: string;
  readonly #now: () => number;
  readonly #listeners = new Set<EventListener>();
  readonly #queues = new Set<EventQueue>();
  #start: SessionEvent | undefined;
  #closed = false;

  constructor(sessionId: string, now: () => number) {
    this.#sessionId = sessionId;
    this.#now = now;
  }

  /** A function of its own, so that the loop calls it without a wrapper: ten times per round. */
  readonly emit: Emit = (kind, data) => {
    if (this.#closed) return;
    // Without a consumer nobody will see the event, and a thousand rounds should not pay for a dozen of them each.
    if (kind !== 'SESSION_START' && this.#listeners.size === 0 && this.#queues.size === 0) return;
    const timestamp = new Date(this.#now()).toISOString();
    const event = { kind, timestamp, sessionId: this.#sessionId, data } as SessionEvent;
    if (kind === 'SESSION_START') this.#start = event;
    this.#deliver(event);
  };

  /** Delivers an event of a subagent as it is. */
  forward(event: SessionEvent): void {
    if (!this.#closed) this.#deliver(event);
  }

  #deliver(event: SessionEvent): void {
    for (const queue of this.#queues) queue.push(event);
    for (const listener of this.#listeners) this.#call(listener, event);
  }

  /** Calls `listener` for every event, in order and synchronously. Returns a function that removes the listener. */
  on(listener: EventListener): () => void {
    this.#listeners.add(listener);
    if (this.#start) this.#call(listener, this.#start);
    return () => this.#listeners.delete(listener);
  }

  /** Each call returns an iterator of its own. It ends after `SESSION_END`. */
  events(): AsyncIterableIterator<SessionEvent, undefined> {
    const queue = new EventQueue(() => this.#queues.delete(queue));
    if (this.#start) queue.push(this.#start);
    if (this.#closed) queue.close();
    else this.#queues.add(queue);
    return queue;
  }

  close(): void {
    this.#closed = true;
    for (const queue of this.#queues) queue.close();
    this.#queues.clear();
    this.#listeners.clear();
  }

  /** A listener that throws must not end the session, and is not called again. */
  #call(listener: EventListener, event: SessionEvent): void {
    try {
      listener(event);
    } catch (error) {
      this.#listeners.delete(listener);
      this.emit('WARNING', {
        code: 'listener-failed',
        message: `An event listener threw and was removed: ${messageOf(error)}`,
      });
    }
  }
}

type Result = IteratorResult<SessionEvent, undefined>;
const DONE: Result = { done: true, value: undefined };

class EventQueue implements AsyncIterableIterator<SessionEvent, undefined> {
  readonly #onReturn: () => void;
  #unread: { event: SessionEvent }[] = [];
  /** Unread deltas that may still grow, by source. Any other event ends their growth: no text may overtake it. */
  readonly #growing = new Map<string, { event: SessionEvent }>();
  #waiting: PromiseWithResolvers<Result>[] = [];
  #closed = false;
  #error: Error | undefined;

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  push(event: SessionEvent): void {
    if (this.#closed) return;
    const waiting = this.#waiting.shift();
    if (waiting) {
      waiting.resolve({ done: false, value: event });
      return;
    }
    const source = deltaSource(event);
    const earlier = source && this.#growing.get(source);
    if (earlier) {
      earlier.event = joined(earlier.event, event);
      return;
    }
    const entry = { event };
    if (source === undefined) this.#growing.clear();
    else this.#growing.set(source, entry);
    this.#unread.push(entry);
    if (this.#unread.length > QUEUE_LIMIT) this.#makeRoom();
  }

  /** Deltas go: the event that ends their block or call has the whole text. Only what is left can be too much. */
  #makeRoom(): void {
    this.#growing.clear();
    this.#unread = this.#unread.filter(({ event }) => deltaSource(event) === undefined);
    if (this.#unread.length <= QUEUE_LIMIT) return;
    this.#error = new EventQueueOverflowError(QUEUE_LIMIT);
    this.close();
    this.#onReturn();
  }

  async next(): Promise<Result> {
    const entry = this.#unread.shift();
    if (entry) {
      this.#growing.clear();
      return { done: false, value: entry.event };
    }
    if (this.#error) throw this.#error;
    if (this.#closed) return DONE;
    const waiting = Promise.withResolvers<Result>();
    this.#waiting.push(waiting);
    return await waiting.promise;
  }

  async return(): Promise<Result> {
    this.#error = undefined;
    this.#unread = [];
    this.close();
    this.#onReturn();
    return DONE;
  }

  /** Lets the consumer read what is left. */
  close(): void {
    this.#closed = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** One delta for two of the same source. */
function joined(earlier: SessionEvent, later: SessionEvent): SessionEvent {
  if (!('delta' in earlier.data && 'delta' in later.data)) return earlier;
  const text = earlier.data.delta + later.data.delta;
  const cut = later.kind === 'TOOL_CALL_OUTPUT_DELTA' && text.length > OUTPUT_DELTA_LIMIT;
  const delta = cut ? text.slice(-OUTPUT_DELTA_LIMIT).toWellFormed() : text;
  return { ...earlier, data: { ...earlier.data, delta } } as SessionEvent;
}

/** The text that a delta continues; `undefined` for an event that is not a delta. */
function deltaSource(event: SessionEvent): string | undefined {
  switch (event.kind) {
    case 'ASSISTANT_TEXT_DELTA':
    case 'REASONING_DELTA':
      return `${event.sessionId}:${event.kind}:${event.data.blockId}`;
    case 'TOOL_CALL_DELTA':
    case 'TOOL_CALL_OUTPUT_DELTA':
      return `${event.sessionId}:${event.kind}:${event.data.callId}`;
    default:
      return undefined;
  }
}
