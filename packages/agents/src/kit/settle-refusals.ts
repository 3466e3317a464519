import type { StreamEvent, StreamEventOf } from '@whetstone/events';
import { present } from '@whetstone/events/present';

type Decision = StreamEventOf<'approval.decided'>['decision'];

/**
 * Gives every refusal one shape, whatever its agent reports: a question, a decision that says who made it, and a call that
 * ended as `rejected`. Some agents report only the decision, some only the end of the call, some one of them twice.
 */
export function settleRefusals(emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  const names = new Map<string, string>();
  /** Of each call that was asked about. */
  const decisions = new Map<string, Decision | 'asked'>();
  return (event) => {
    switch (event.type) {
      case 'action.called':
        names.set(event.callId, event.name);
        // An agent that is started again for every turn counts its calls from the start again.
        decisions.delete(event.callId);
        break;
      case 'approval.requested':
        if (decisions.has(event.callId) && decisions.get(event.callId) !== 'approved') return;
        decisions.set(event.callId, 'asked');
        break;
      case 'approval.decided':
        if (decisions.get(event.callId) === event.decision) return;
        decisions.set(event.callId, event.decision);
        break;
      case 'action.result': {
        const decision = decisions.get(event.callId);
        if (event.status === 'rejected' && decision !== 'denied') {
          for (const missing of missingBefore(event, decision, names.get(event.callId))) emit(missing);
          decisions.set(event.callId, 'denied');
        }
        if (event.status === 'failed' && decision === 'denied') {
          emit({ ...event, status: 'rejected' });
          return;
        }
      }
    }
    emit(event);
  };
}

/** The decision before a call that was refused. Nobody was asked: then the agent refused the call by itself. */
function missingBefore(
  { callId, at, turn, source, parentCallId }: StreamEventOf<'action.result'>,
  decision: Decision | 'asked' | undefined,
  name: string | undefined,
): StreamEvent[] {
  const envelope = present({ at, turn, source, parentCallId });
  if (decision === 'asked') return [{ type: 'approval.decided', callId, decision: 'denied', ...envelope }];
  return [
    { type: 'approval.requested', callId, ...present({ name }), ...envelope },
    { type: 'approval.decided', callId, decision: 'denied', by: 'agent', ...envelope },
  ];
}
