import { type JsonValue, parseStreamEvent, type StreamEvent } from '@whetstone/events';
import type { AgentContext } from '../agent.ts';
import { createTurnEvents } from '../kit/turn-events.ts';

/** The events of a turn that comes from code we do not know: emitted early, returned in the end, or both. */
export type AdapterEvents = {
  readonly events: StreamEvent[];
  /** What the adapter gets as `ctx.emit`. */
  emit(event: StreamEvent): void;
  /** Takes an event of the returned turn, unless it was emitted before. */
  add(event: unknown): void;
  /** The turn is over: what an adapter emits that was left behind is nobody's. */
  close(): void;
};

export function collectAdapterEvents(context: Pick<AgentContext, 'emit'>): AdapterEvents {
  const turn = createTurnEvents(context);
  const emitted = new Set<unknown>();
  let closed = false;
  return {
    events: turn.events,
    emit(event) {
      if (closed) return;
      emitted.add(event);
      turn.add(toEvent(event));
    },
    add(event) {
      if (!emitted.has(event)) turn.add(toEvent(event));
    },
    close() {
      closed = true;
    },
  };
}

/** What is no event of ours is kept whole, as far as JSON can hold it. */
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
