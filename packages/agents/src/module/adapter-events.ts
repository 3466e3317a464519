import { type JsonValue, parseStreamEvent, type StreamEvent } from '@whetstone/events';
import type { AgentContext } from '../agent.ts';
import { createTurnEvents } from '../kit/turn-events.ts';

/** The events of one turn of an adapter. An adapter may emit an event, return it with the turn, or both. */
export type AdapterEvents = {
  readonly events: StreamEvent[];
  /** The adapter's `ctx.emit`. */
  emit(event: StreamEvent): void;
  /** Adds an event of the returned turn, unless the adapter has emitted it already. */
  add(event: unknown): void;
  /** Ends the turn: events that the adapter emits afterwards are dropped. */
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
