import type { StreamEvent } from '@whetstone/agents';
import { present } from '@whetstone/events/present';
import type { ToolCall } from '../expect/patterns.ts';
import type { IndexedEvent, Subject } from './assertion.ts';

/** A tool call with where it stands among the events. */
export type ObservedCall = ToolCall & {
  /** Position of its `action.called` in the subject's events. */
  position: number;
  /** Indices of its events in the attempt. */
  indices: number[];
};

export type ObservedSubagent = {
  callId: string;
  name: string;
  output?: ToolCall['output'];
  status: 'completed' | 'failed' | 'pending';
  position: number;
  indices: number[];
};

/** What the assertions on a subject share. */
export type Evidence = {
  subject: Subject;
  events: readonly IndexedEvent[];
  /** Whether all tool calls, sub-agents and changes are among the events. */
  isObserved: boolean;
  /** Only what is behind and before these positions counts; set in a window. */
  after?: number;
  before?: number;
  calls: readonly ObservedCall[];
  subagents: readonly ObservedSubagent[];
};

type Derived = Pick<Evidence, 'calls' | 'subagents'> & { length: number };
const derived = new WeakMap<readonly IndexedEvent[], Derived>();

export function evidenceOf(subject: Subject): Evidence {
  const { events } = subject;
  let found = derived.get(events);
  if (found?.length !== events.length) {
    found = { ...derive(events), length: events.length };
    derived.set(events, found);
  }
  const { calls, subagents } = found;
  return { subject, events, isObserved: subject.capabilities.toolObservability === true, calls, subagents };
}

/** A later call may have the id of an earlier one: a result belongs to the latest. */
function derive(events: readonly IndexedEvent[]): Pick<Evidence, 'calls' | 'subagents'> {
  const calls: ObservedCall[] = [];
  const subagents: ObservedSubagent[] = [];
  const latestCall = new Map<string, ObservedCall>();
  const latestSubagent = new Map<string, ObservedSubagent>();
  for (const [position, { index, event }] of events.entries()) {
    if (event.type === 'action.called') {
      const { callId, name, input } = event;
      const call: ObservedCall = { callId, name, input, status: 'pending', position, indices: [index] };
      latestCall.set(callId, call);
      calls.push(call);
    } else if (event.type === 'action.result') {
      settle(latestCall.get(event.callId), index, event);
    } else if (event.type === 'subagent.called') {
      const { callId, name } = event;
      const subagent: ObservedSubagent = { callId, name, status: 'pending', position, indices: [index] };
      latestSubagent.set(callId, subagent);
      subagents.push(subagent);
    } else if (event.type === 'subagent.completed') {
      settle(latestSubagent.get(event.callId), index, event);
    }
  }
  return { calls, subagents };
}

type Ended<Status> = { status: Status; output?: ToolCall['output'] | undefined };

function settle<Status>(
  open: { status: Status | 'pending'; output?: ToolCall['output']; indices: number[] } | undefined,
  index: number,
  { status, output }: Ended<Status>,
): void {
  if (!open) return;
  open.status = status;
  if (output !== undefined) open.output = output;
  open.indices.push(index);
}

/** Only what happened behind and before these positions. */
export function windowOf(
  evidence: Evidence,
  { after, before }: { after?: number; before?: number },
): Evidence {
  const window = { ...evidence, ...present({ after, before }) };
  const isIn = ({ position }: { position: number }) => isInside(window, position);
  return { ...window, calls: evidence.calls.filter(isIn), subagents: evidence.subagents.filter(isIn) };
}

const isInside = ({ after = -1, before = Number.POSITIVE_INFINITY }: Evidence, position: number): boolean =>
  position > after && position < before;

export type ObservedEvent<Event extends StreamEvent = StreamEvent> = {
  event: Event;
  position: number;
  indices: [number];
};

/** The events of the window with a type of these, or all. */
export function eventsIn<Type extends StreamEvent['type']>(
  evidence: Evidence,
  ...types: readonly Type[]
): ObservedEvent<Extract<StreamEvent, { type: Type }>>[] {
  const found: ObservedEvent[] = [];
  for (const [position, { index, event }] of evidence.events.entries()) {
    const isWanted = types.length === 0 || types.includes(event.type as Type);
    if (isWanted && isInside(evidence, position)) found.push({ event, position, indices: [index] });
  }
  return found as ObservedEvent<Extract<StreamEvent, { type: Type }>>[];
}
