import type { JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { objectIn, textIn } from '../../kit/fields.ts';

/** The state of another agent, as Codex reports it: `"running"`, `{ status, message }` or `{ "completed": message }`. */
type AgentState = { status: string; message: JsonValue };

const FAILED = new Set(['errored', 'interrupted', 'shutdown', 'not_found']);

/**
 * The sub-agents that a Codex thread started. Each is called once and ends once, under the id of the call that started
 * it. Each sub-agent's own events are in its rollout file.
 */
export class Collaboration {
  /** Thread id → call id, for sub-agents that have not ended. */
  readonly #running = new Map<string, string>();
  readonly #called = new Set<string>();
  readonly #threads: Record<string, string>;

  /** `threads`, thread id → call id, gets all sub-agents. It connects their rollouts with this one. */
  constructor(threads: Record<string, string>) {
    this.#threads = threads;
  }

  /** `name` is what the parent calls the agent. */
  started(callId: string, name: string): StreamEvent[] {
    if (this.#called.has(callId)) return [];
    this.#called.add(callId);
    return [{ type: 'subagent.called', callId, name }];
  }

  hasThread(callId: string, threadId: string): void {
    this.#running.set(threadId, callId);
    this.#threads[threadId] = callId;
  }

  /** The call did not start an agent. */
  failed(callId: string): StreamEvent[] {
    return [{ type: 'subagent.completed', callId, status: 'failed' }];
  }

  /** `states` has one entry per thread id. */
  ended(states: JsonObject | undefined): StreamEvent[] {
    return Object.entries(states ?? {}).flatMap(([thread, value]): StreamEvent[] => {
      const callId = this.#running.get(thread);
      const { status, message } = stateOf(value);
      const isDone = status === 'completed';
      if (callId === undefined || !(isDone || FAILED.has(status))) return [];
      this.#running.delete(thread);
      const output = message !== null && { output: message };
      return [{ type: 'subagent.completed', callId, status: isDone ? 'completed' : 'failed', ...output }];
    });
  }
}

function stateOf(value: JsonValue): AgentState {
  if (typeof value === 'string') return { status: value, message: null };
  const state = objectIn(value) ?? {};
  const status = textIn(state.status);
  if (status !== undefined) return { status, message: state.message ?? null };
  const [key = 'running', message = null] = Object.entries(state)[0] ?? [];
  return { status: key, message };
}
