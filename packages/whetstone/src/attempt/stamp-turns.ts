import type { StreamEvent } from '@whetstone/events';

const BEGINNINGS: ReadonlySet<StreamEvent['type']> = new Set([
  'action.called',
  'subagent.called',
  'approval.requested',
]);

/**
 * Gives each event of a session its turn, from 0. Agents that are started anew for every turn count their calls anew:
 * an id that an earlier turn had, too, gets the number of its turn (`item_1#2` in the second), so that no two calls of a
 * session are one.
 */
export function createTurnStamp(): (event: StreamEvent, turn: number) => StreamEvent {
  const latest = new Map<string, { name: string; turn: number }>();
  // What no event of its own turn called belongs to a call of an earlier one.
  const nameOf = (id: string): string => latest.get(id)?.name ?? id;
  return (event, turn) => {
    if ('callId' in event && BEGINNINGS.has(event.type)) {
      const known = latest.get(event.callId);
      if (!known) latest.set(event.callId, { name: event.callId, turn });
      else if (known.turn !== turn) latest.set(event.callId, { name: `${event.callId}#${turn + 1}`, turn });
    }
    return {
      ...event,
      turn,
      ...('callId' in event && { callId: nameOf(event.callId) }),
      ...(event.parentCallId !== undefined && { parentCallId: nameOf(event.parentCallId) }),
    };
  };
}
