import type { JsonValue, StreamEvent, StreamEventOf } from '@whetstone/events';
import { isJsonObject } from '@whetstone/events/json';
import { present } from '@whetstone/events/present';
import { inputText } from '../conversation/turn.ts';
import type { SessionEvent, SessionEventOf } from './session-event.ts';

/**
 * A function that maps the events of one session and its subagents to the `StreamEvent`s of `@whetstone/events`. Call
 * it once per event, in order.
 *
 * - `turn` counts the submits from 0.
 * - Text appears when its model call has ended, so that text which a retry discards never appears.
 * - What a subagent does has as `parentCallId` the id of the tool call that gave the subagent its present input.
 * - Ids of a subagent's own calls begin with the subagent's id, because providers count call ids anew in each
 *   conversation.
 */
export function createStreamEventMapper(): (event: SessionEvent) => StreamEvent[] {
  let turn = 0;
  const held = new Map<string, StreamEvent[]>();
  const running = new Map<string, string>();
  return (event) => {
    const { sessionId, subagent } = event;
    if (event.kind === 'SUBAGENT_START')
      running.set(event.data.sessionId, callIn(event.data.callId, subagent));
    if (event.kind === 'WARNING' && event.data.code === 'model-retry') held.delete(sessionId);
    if (event.kind === 'PROCESSING_END' && !subagent) turn += 1;
    const parentCallId = subagent && (running.get(sessionId) ?? subagent.agentId);
    const envelope = { at: event.timestamp, turn, source: 'agent' as const, ...present({ parentCallId }) };
    const mapped = eventsOf(event, running).map((mappedEvent) => ({ ...mappedEvent, ...envelope }));
    if (event.kind === 'ASSISTANT_TEXT_END' || event.kind === 'REASONING_END') {
      held.set(sessionId, [...(held.get(sessionId) ?? []), ...mapped]);
      return [];
    }
    if (event.kind !== 'LLM_CALL_END') return mapped;
    const released = held.get(sessionId) ?? [];
    held.delete(sessionId);
    return [...released, ...mapped];
  };
}

const callIn = (callId: string, subagent: SessionEvent['subagent']): string =>
  subagent ? `${subagent.agentId}/${callId}` : callId;

function eventsOf(event: SessionEvent, running: ReadonlyMap<string, string>): StreamEvent[] {
  const { subagent } = event;
  if (event.kind === 'SUBAGENT_END') {
    const { agentId, sessionId, success, output } = event.data;
    const callId = running.get(sessionId) ?? agentId;
    return [{ type: 'subagent.completed', callId, output, status: success ? 'completed' : 'failed' }];
  }
  if (!subagent) return toStreamEvents(event);
  // The parent's `SUBAGENT_START` has reported the start, and the parent's tool call the task.
  if (event.kind === 'SESSION_START' || event.kind === 'USER_INPUT') return [];
  return toStreamEvents(event).map((streamEvent) =>
    'callId' in streamEvent && streamEvent.callId !== undefined
      ? ({ ...streamEvent, callId: callIn(streamEvent.callId, subagent) } as StreamEvent)
      : streamEvent,
  );
}

/** The stream events of one session event, without `turn`. Most session events have one or none. */
function toStreamEvents(event: SessionEvent): StreamEvent[] {
  switch (event.kind) {
    case 'SESSION_START':
      return [sessionStarted(event)];
    case 'USER_INPUT':
    case 'STEERING_INJECTED':
      return [{ type: 'message', role: 'user', text: inputText(event.data.content) }];
    case 'ASSISTANT_TEXT_END':
      return event.data.text === '' ? [] : [{ type: 'message', role: 'assistant', text: event.data.text }];
    case 'REASONING_END':
      return event.data.text === '' ? [] : [{ type: 'thinking', text: event.data.text }];
    case 'TOOL_CALL_START': {
      const { callId, name, input } = event.data;
      return [{ type: 'action.called', callId, name, input }];
    }
    case 'TOOL_CALL_END':
      return toolResult(event);
    case 'SUBAGENT_START':
      return [{ type: 'subagent.called', callId: event.data.callId, name: event.data.agentId }];
    case 'APPROVAL_REQUESTED':
      return [{ type: 'approval.requested', callId: event.data.callId, name: event.data.name }];
    case 'APPROVAL_DECIDED':
      return [{ type: 'approval.decided', callId: event.data.callId, decision: event.data.decision }];
    case 'INPUT_REQUESTED': {
      const { callId: id, question: prompt, options: labels } = event.data;
      const options = labels.map((label) => ({ id: label, label }));
      return [{ type: 'input.requested', request: { id, prompt, kind: 'question', options } }];
    }
    case 'LLM_CALL_END':
      return usage(event);
    case 'ERROR':
      return [{ type: 'error', message: event.data.message }];
    default:
      return [];
  }
}

function sessionStarted({ sessionId, data }: SessionEventOf<'SESSION_START'>): StreamEvent {
  const { model, workingDirectory: workingDir, restored: resumed } = data;
  return { type: 'session.started', sessionId, runtime: 'loop', model, workingDir, ...present({ resumed }) };
}

function toolResult({ data }: SessionEventOf<'TOOL_CALL_END'>): StreamEvent[] {
  const { changes, ...facts } = data.details ?? {};
  const output: JsonValue = Object.keys(facts).length === 0 ? data.output : { output: data.output, ...facts };
  const status = data.status === 'completed' || data.status === 'rejected' ? data.status : 'failed';
  return [{ type: 'action.result', callId: data.callId, output, status }, ...fileChanges(changes)];
}

const CHANGES: readonly unknown[] = ['added', 'modified', 'deleted', 'renamed'];

/** A tool of the host may report whatever it likes: what is not a file change is left out. */
function fileChanges(changes: JsonValue | undefined): StreamEvent[] {
  if (!Array.isArray(changes)) return [];
  return changes.filter(isJsonObject).flatMap(({ path, change, from }): StreamEvent[] => {
    if (typeof path !== 'string' || !isChange(change)) return [];
    return [{ type: 'file.changed', path, change, ...(typeof from === 'string' && { from }) }];
  });
}

const isChange = (change: unknown): change is StreamEventOf<'file.changed'>['change'] =>
  CHANGES.includes(change);

function usage({ data }: SessionEventOf<'LLM_CALL_END'>): StreamEvent[] {
  const { usage: tokens, model, latencyMs, costUsd } = data;
  return tokens ? [{ type: 'usage', usage: tokens, model, latencyMs, ...present({ costUsd }) }] : [];
}
