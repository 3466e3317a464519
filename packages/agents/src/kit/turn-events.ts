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
  const add = (event: StreamEvent): void => {
    settle({ at: new Date().toISOString(), source: 'agent', ...event });
  };
  return {
    events,
    add,
    /** Called after the last event of the agent: some say nothing more of a call that was denied. */
    end(): void {
      for (const callId of unansweredRefusals(events)) {
        add({ type: 'action.result', source: 'host', callId, status: 'rejected' });
      }
    },
  };
}

/** The calls that were denied and have no result. */
function unansweredRefusals(events: readonly StreamEvent[]): string[] {
  const open = new Map<string, boolean>();
  for (const event of events) {
    if (event.type === 'action.called') open.set(event.callId, false);
    else if (event.type === 'action.result') open.delete(event.callId);
    else if (event.type === 'approval.decided' && open.has(event.callId)) {
      open.set(event.callId, event.decision === 'denied');
    }
  }
  return [...open].flatMap(([callId, isDenied]) => (isDenied ? [callId] : []));
}
