import type { LossTally } from '../loss.ts';
import type { StreamEvent, StreamEventOf } from '../stream-event.ts';

/** A tool call, the start of a sub-agent, or a tool call that started one, with its results. */
export type StepCall = {
  callId: string;
  action?: StreamEventOf<'action.called'>;
  subagent?: StreamEventOf<'subagent.called'>;
  results: (StreamEventOf<'action.result'> | StreamEventOf<'subagent.completed'>)[];
};

/** One model call and what followed from it. A stream does not mark where a call begins and ends, so it is inferred. */
export type AgentStep = {
  kind: 'agent';
  turn: number | undefined;
  thinking?: StreamEventOf<'thinking'>;
  message?: StreamEventOf<'message'>;
  calls: StepCall[];
  usage?: StreamEventOf<'usage'>;
  /** The usage came before the first call, so the reply was complete before its calls ran. */
  usageBeforeCalls?: boolean;
};

export type Step =
  | AgentStep
  | { kind: 'user'; message: StreamEventOf<'message'> }
  /** All other events, and results of calls that were never made. */
  | { kind: 'other'; event: StreamEvent };

/**
 * Groups the events of one agent (not of its sub-agents, see `eventsByAgent`) into steps, in order of their first event.
 *
 * A new agent step begins:
 * - with a user's message, another turn, or a second usage;
 * - with thinking or a message that follows a usage, or a part that comes later in a reply (thinking, message, calls);
 * - with a call that follows a result, unless the usage came before the step's first call: then the reply was complete,
 *   and its calls run one after the other.
 *
 * A result belongs to the step of its call, however late it comes.
 */
export function groupSteps(events: readonly StreamEvent[]): Step[] {
  const steps: Step[] = [];
  const latestCalls = new Map<string, StepCall>();
  let current: AgentStep | undefined;

  const stepFor = (event: StreamEvent, fits: (step: AgentStep) => boolean): AgentStep => {
    if (current && current.turn === event.turn && fits(current)) return current;
    current = { kind: 'agent', turn: event.turn, calls: [] };
    steps.push(current);
    return current;
  };
  const takesCall = (step: AgentStep, callId: string): boolean =>
    !step.calls.some((call) => call.callId === callId) &&
    (step.usageBeforeCalls || !step.calls.some((call) => call.results.length > 0));
  const addCall = (
    event: StreamEventOf<'action.called'> | StreamEventOf<'subagent.called'>,
    call: StepCall,
  ) => {
    stepFor(event, (step) => takesCall(step, event.callId)).calls.push(call);
    latestCalls.set(event.callId, call);
  };

  for (const event of events) {
    const latest = 'callId' in event ? latestCalls.get(event.callId ?? '') : undefined;
    if (event.type === 'message' && event.role === 'user') {
      steps.push({ kind: 'user', message: event });
      current = undefined;
    } else if (event.type === 'message') {
      stepFor(event, (step) => !step.message && !step.usage && step.calls.length === 0).message = event;
    } else if (event.type === 'thinking') {
      const fits = (step: AgentStep) =>
        !step.thinking && !step.message && !step.usage && step.calls.length === 0;
      stepFor(event, fits).thinking = event;
    } else if (event.type === 'usage') {
      const step = stepFor(event, (candidate) => !candidate.usage);
      step.usageBeforeCalls = step.calls.length === 0;
      step.usage = event;
    } else if (event.type === 'action.called') {
      addCall(event, { callId: event.callId, action: event, results: [] });
    } else if (event.type === 'subagent.called') {
      if (latest?.action && !latest.subagent && latest.results.length === 0) latest.subagent = event;
      else addCall(event, { callId: event.callId, subagent: event, results: [] });
    } else if (event.type === 'action.result' && latest?.action) {
      latest.results.push(event);
    } else if (event.type === 'subagent.completed' && latest?.subagent) {
      latest.results.push(event);
    } else {
      steps.push({ kind: 'other', event });
    }
  }
  return steps;
}

/** The events by the `callId` of their sub-agent; the agent's own events are under `undefined`. */
export function eventsByAgent(events: readonly StreamEvent[]): Map<string | undefined, StreamEvent[]> {
  return Map.groupBy(events, (event) => event.parentCallId);
}

/** Reports the events of sub-agents that nothing starts: `agents` has those that were not converted. */
export function loseUnstarted(agents: ReadonlyMap<unknown, StreamEvent[]>, losses: LossTally): void {
  for (const { type } of [...agents.values()].flat()) {
    losses.add(type, 'nothing in the stream starts its sub-agent');
  }
}
