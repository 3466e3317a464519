import type { EventKind, SessionEvent, SessionEventData } from './session-event.ts';

export type EventListener = (event: SessionEvent) => void;

/** Structural events that one iterator may leave unread before it fails. */
const QUEUE_LIMIT = 10_000;
/** Characters of a command's output that one unread delta holds; the oldest go first. A model's own text is never cut. */
const OUTPUT_DELTA_LIMIT = 64 * 1024;

/** A consumer of `events()` left more events unread than its queue holds. Read faster, or use `on()`. */
export class EventQueueOverflowError extends Error {
  override readonly name = 'EventQueueOverflowError';
  constructor(limit: number) {
    super(
      `events(): more than ${limit} events are unread; read the iterator faster, return() it, or use on()`,
    );
  }
}

/**
 * Delivers events to any number of consumers. A structural event is never dropped; a delta that waits unread takes up
 * the ones that follow it from the same source. Who attaches late still gets `SESSION_START` first.
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

  emit<Kind extends EventKind>(kind: Kind, data: SessionEventData[Kind]): void {
    if (this.#closed) return;
    // Nobody will ever see it: a thousand rounds without a consumer need not pay for a dozen events each.
    if (kind !== 'SESSION_START' && this.#listeners.size === 0 && this.#queues.size === 0) return;
    const timestamp = new Date(this.#now()).toISOString();
    const event = { kind, timestamp, sessionId: this.#sessionId, data } as SessionEvent;
    if (kind === 'SESSION_START') this.#start = event;
    this.#deliver(event);
  }

  /** Passes an event of a subagent on. */
  forward(event: SessionEvent): void {
    if (!this.#closed) this.#deliver(event);
  }

  #deliver(event: SessionEvent): void {
    for (const queue of this.#queues) queue.push(event);
    for (const listener of this.#listeners) this.#call(listener, event);
  }

  /** Calls `listener` for every event, in order, from within the session: it must be quick. Returns the way to stop. */
  on(listener: EventListener): () => void {
    this.#listeners.add(listener);
    if (this.#start) this.#call(listener, this.#start);
    return () => this.#listeners.delete(listener);
  }

  /** An iterator of its own for each consumer; it ends after `SESSION_END`. */
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

  /** A listener that throws must not take the session down, nor be asked again. */
  #call(listener: EventListener, event: SessionEvent): void {
    try {
      listener(event);
    } catch (error) {
      this.#listeners.delete(listener);
      const reason = error instanceof Error ? error.message : String(error);
      this.emit('WARNING', {
        code: 'listener',
        message: `An event listener threw and was removed: ${reason}`,
      });
    }
  }
}

type Waiting = {
  resolve: (result: IteratorResult<SessionEvent, undefined>) => void;
  reject: (error: Error) => void;
};

class EventQueue implements AsyncIterableIterator<SessionEvent, undefined> {
  readonly #onReturn: () => void;
  #events: SessionEvent[] = [];
  #next = 0;
  /** Unread deltas that may still grow, by source. Emptied by a structural event, which they must not overtake. */
  readonly #growing = new Map<string, number>();
  #waiting: Waiting[] = [];
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
    if (source === undefined) this.#growing.clear();
    else if (this.#grow(source, event)) return;
    else this.#growing.set(source, this.#events.length);
    this.#events.push(event);
    if (this.#events.length - this.#next > QUEUE_LIMIT) this.#fail(new EventQueueOverflowError(QUEUE_LIMIT));
  }

  next(): Promise<IteratorResult<SessionEvent, undefined>> {
    const event = this.#events[this.#next];
    if (event !== undefined) {
      this.#advance();
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#error) return Promise.reject(this.#error);
    if (this.#closed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<SessionEvent, undefined>> {
    this.#events = [];
    this.#next = 0;
    this.close();
    this.#onReturn();
    return Promise.resolve({ done: true, value: undefined });
  }

  close(): void {
    this.#closed = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #advance(): void {
    this.#next += 1;
    this.#growing.clear();
    if (this.#next < 1024 && this.#next < this.#events.length) return;
    this.#events.splice(0, this.#next);
    this.#next = 0;
  }

  #grow(source: string, event: SessionEvent): boolean {
    const index = this.#growing.get(source);
    const earlier = index === undefined ? undefined : this.#events[index];
    if (
      index === undefined ||
      earlier === undefined ||
      !('delta' in earlier.data) ||
      !('delta' in event.data)
    )
      return false;
    const joined = earlier.data.delta + event.data.delta;
    const cut = event.kind === 'TOOL_CALL_OUTPUT_DELTA' && joined.length > OUTPUT_DELTA_LIMIT;
    const delta = cut ? joined.slice(-OUTPUT_DELTA_LIMIT).toWellFormed() : joined;
    this.#events[index] = { ...earlier, data: { ...earlier.data, delta } } as SessionEvent;
    return true;
  }

  #fail(error: Error): void {
    this.#error = error;
    this.#events = [];
    this.#next = 0;
    this.#closed = true;
    this.#onReturn();
  }
}

/** What a delta continues; `undefined` for a structural event. */
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
