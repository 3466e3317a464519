import type { StreamEvent } from '@whetstone/events';

const BEGINNINGS: ReadonlySet<StreamEvent['type']> = new Set([
  'action.called',
  'subagent.called',
  'approval.requested',
]);

/**
 * Gives each event of a session its turn, counted from 0. An agent that is started again for every turn counts its
 * calls from the start again. So an id that an earlier turn had gets the number of its turn (`item_1#2` in the second),
 * and no two calls of a session have the same id.
 */
export function createTurnStamp(): (event: StreamEvent, turn: number) => StreamEvent {
  const latest = new Map<string, { name: string; turn: number }>();
  // A result whose call is not in this turn belongs to a call of an earlier turn.
  const nameOf = (id: string): string => latest.get(id)?.name ?? id;
  return (event, turn) => {
    const callId = 'callId' in event ? event.callId : undefined;
    if (callId !== undefined && BEGINNINGS.has(event.type)) {
      const known = latest.get(callId);
      if (!known) latest.set(callId, { name: callId, turn });
      else if (known.turn !== turn) latest.set(callId, { name: `${callId}#${turn + 1}`, turn });
    }
    return {
      ...event,
      turn,
      ...(callId !== undefined && { callId: nameOf(callId) }),
      ...(event.parentCallId !== undefined && { parentCallId: nameOf(event.parentCallId) }),
    };
  };
}
