import type { JsonValue, StreamEvent, Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Turn } from '../agent.ts';

/** Collects the parts of a turn. */
export type TurnDraft = {
  readonly events: StreamEvent[];
  add(event: StreamEvent): void;
  /** Keeps a value that has no mapping, as a `raw` event. */
  addRaw(native: JsonValue): void;
  addUsage(usage: Usage, model?: string): void;
  /** Adds an error, and makes the turn a failed one. */
  fail(message: string): void;
  finish(options?: { waiting?: boolean }): Turn;
};

export function createTurnDraft(): TurnDraft {
  const events: StreamEvent[] = [];
  let failed = false;
  let total: Usage | undefined;
  const add = (event: StreamEvent): void => {
    events.push(event);
  };
  return {
    events,
    add,
    addRaw: (native) => add({ type: 'raw', native }),
    addUsage(usage, model) {
      total = usage;
      add({ type: 'usage', usage, ...present({ model }) });
    },
    fail(message) {
      failed = true;
      add({ type: 'error', message });
    },
    finish({ waiting = false } = {}) {
      return {
        events,
        status: failed ? 'failed' : waiting ? 'waiting' : 'completed',
        ...present({ usage: total }),
      };
    },
  };
}

/**
 * Converts an OpenAI usage, in which cached tokens are part of the input and reasoning is part of the output, to exclusive
 * buckets. `undefined` when one of the two totals is missing.
 */
export function exclusiveUsage(reported: {
  input: number | undefined;
  output: number | undefined;
  cacheRead: number | undefined;
  cacheWrite: number | undefined;
  reasoning: number | undefined;
}): Usage | undefined {
  const { input, output, cacheRead, cacheWrite, reasoning } = reported;
  if (input === undefined || output === undefined) return undefined;
  return {
    inputTokens: Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    outputTokens: output,
    ...present({ cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite, reasoningTokens: reasoning }),
  };
}
