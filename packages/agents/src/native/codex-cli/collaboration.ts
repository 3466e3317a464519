import type { EventEnvelope, JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { objectIn, textIn } from '../../kit/fields.ts';

/** What Codex says of another agent: `"running"`, `{ status, message }` or `{ "completed": message }`. */
type AgentState = { status: string; message: JsonValue };

const FAILED = new Set(['errored', 'interrupted', 'shutdown', 'not_found']);

/**
 * The agents that a thread of Codex started: each is called once, and ends once, under the id of the call that started
 * it. What they did stands in rollout files of their own.
 */
export class Collaboration {
  /** Of those that have not ended: thread → call. */
  readonly #running = new Map<string, string>();
  readonly #called = new Set<string>();
  /** Of all: thread → call, for whoever puts their rollouts together. */
  readonly threads: Record<string, string> = {};

  /** `name` is how the agent is known to its parent. */
  started(callId: string, name: string, envelope: EventEnvelope = {}): StreamEvent[] {
    if (this.#called.has(callId)) return [];
    this.#called.add(callId);
    return [{ type: 'subagent.called', callId, name, ...envelope }];
  }

  hasThread(callId: string, threadId: string): void {
    this.#running.set(threadId, callId);
    this.threads[threadId] = callId;
  }

  /** No agent came of the call. */
  failed(callId: string, envelope: EventEnvelope = {}): StreamEvent[] {
    return [{ type: 'subagent.completed', callId, status: 'failed', ...envelope }];
  }

  /** `states` by thread. */
  ended(states: JsonObject | undefined, envelope: EventEnvelope = {}): StreamEvent[] {
    return Object.entries(states ?? {}).flatMap(([thread, value]): StreamEvent[] => {
      const callId = this.#running.get(thread);
      const { status, message } = stateOf(value);
      const isDone = status === 'completed';
      if (callId === undefined || !(isDone || FAILED.has(status))) return [];
      this.#running.delete(thread);
      return [
        {
          type: 'subagent.completed',
          callId,
          status: isDone ? 'completed' : 'failed',
          ...(message !== null && { output: message }),
          ...envelope,
        },
      ];
    });
  }
}

function stateOf(value: JsonValue): AgentState {
  if (typeof value === 'string') return { status: value, message: null };
  const state = objectIn(value) ?? {};
  const status = textIn(state.status);
  if (status !== undefined) return { status, message: state.message ?? null };
  const [told = 'running', message = null] = Object.entries(state)[0] ?? [];
  return { status: told, message };
}
