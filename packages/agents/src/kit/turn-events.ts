import type { StreamEvent } from '@whetstone/events';
import type { AgentContext } from '../agent.ts';
import { settleRefusals } from './settle-refusals.ts';

export type TurnEvents = ReturnType<typeof createTurnEvents>;

/** Collects the events of one turn and emits them as they happen, each with its time and source. */
export function createTurnEvents(context: Pick<AgentContext, 'emit'>) {
  const events: StreamEvent[] = [];
  const settle = settleRefusals((event) => {
    events.push(event);
    context.emit(event);
  });
  return {
    events,
    add(event: StreamEvent): void {
      settle({ at: new Date().toISOString(), source: 'agent', ...event });
    },
  };
}
