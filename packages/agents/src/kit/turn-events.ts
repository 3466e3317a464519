import type { StreamEvent } from '@whetstone/events';
import type { AgentContext } from '../agent.ts';

export type TurnEvents = ReturnType<typeof createTurnEvents>;

/** Collects the events of one turn and emits them as they happen, each with its time and source. */
export function createTurnEvents(context: Pick<AgentContext, 'emit'>) {
  const events: StreamEvent[] = [];
  return {
    events,
    add(event: StreamEvent): void {
      const stamped: StreamEvent = { at: new Date().toISOString(), source: 'agent', ...event };
      events.push(stamped);
      context.emit(stamped);
    },
  };
}
