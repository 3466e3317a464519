import { type JsonValue, parseStreamEvent, type StreamEvent } from '@whetstone/events';
import type { AgentContext } from '../agent.ts';
import { createTurnEvents } from '../kit/turn-events.ts';

export type AdapterEvents = ReturnType<typeof collectAdapterEvents>;

/** The events of one turn of an adapter. An adapter may emit an event, return it with the turn, or both. */
export function collectAdapterEvents(context: Pick<AgentContext, 'emit'>) {
  const turn = createTurnEvents(context);
  const emitted = new Set<unknown>();
  let isClosed = false;
  return {
    events: turn.events,
    /** The adapter's `ctx.emit`. */
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
