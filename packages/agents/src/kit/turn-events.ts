import type { StreamEvent } from '@whetstone/events';
import type { AgentContext } from '../agent.ts';

/** Collects the events of one turn and emits them as they happen, each with its time and source. */
export type TurnEvents = { readonly events: StreamEvent[]; add(event: StreamEvent): void };

export function createTurnEvents(context: Pick<AgentContext, 'emit'>): TurnEvents {
  const events: StreamEvent[] = [];
  return {
    events,
    add(event) {
      const stamped: StreamEvent = { at: new Date().toISOString(), source: 'agent', ...event };
      events.push(stamped);
      context.emit(stamped);
    },
  };
}
