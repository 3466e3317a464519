import { messageOf } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { HistoryTurn, Input, Part } from '../conversation/turn.ts';
import type { Emit, ToolCallEnd } from '../events/session-event.ts';
import { raceAbort, whoAborted } from './race-abort.ts';

type Maybe<T> = T | undefined | Promise<T | undefined>;

/**
 * Functions of the host that a session calls between its steps. To return `undefined` is to leave things as they are.
 *
 * Contract for every hook:
 * - It may be asynchronous. It should settle when its `signal` aborts; a hook that has not settled a second later is
 *   abandoned.
 * - A hook that throws or rejects is reported as an `ERROR` with code `hook-failed`, and refuses what it guards:
 *   `beforeSubmit` blocks the input, `beforeTool` keeps the call from running, `afterTool` withholds the
 *   result.
 *
 * Subagents inherit `beforeTool` and `afterTool`, and no other hook.
 */
export type Hooks = {
  /** Called before an input or a follow-up enters the history. May replace the input or block it. */
  beforeSubmit?(submit: { input: Input; signal: AbortSignal }): Maybe<Block | { input: Input }>;
  /**
   * Called after the arguments were validated and before the approval. May replace the arguments, which are then
   * validated again, or block the call. Called once per call, even where the approval is put off and the session is
   * restored.
   */
  beforeTool?(call: HookedCall): Maybe<Block | { args: JsonObject }>;
  /** Called after a call has run. What it returns replaces that part of the result, for the model and in the events. */
  afterTool?(
    call: HookedCall & Pick<ToolCallEnd, 'status' | 'isError' | 'details'> & { content: string | Part[] },
  ): Maybe<{ content?: string | Part[]; isError?: boolean }>;
  /**
   * Called before an input ends because the model is done. With `continueWith` the input continues, and the model reads
   * that message next, at most 25 times per input. `continuations` counts how often this has happened.
   */
  beforeStop?(stop: {
    text: string;
    continuations: number;
    signal: AbortSignal;
  }): Maybe<{ continueWith: Input }>;
  /**
   * Called when the conversation is longer than the model's context window. The turns that it returns replace the
   * history, and the call is made once more. Without them the input ends with `context_overflow`.
   */
  onContextOverflow?(overflow: {
    turns: readonly HistoryTurn[];
    message: string;
    signal: AbortSignal;
  }): Maybe<{ turns: readonly HistoryTurn[] }>;
};

/** The hooks as functions, also where they are methods of an object of a class. */
export function boundHooks(hooks: Hooks = {}): Hooks {
  return present({
    beforeSubmit: hooks.beforeSubmit?.bind(hooks),
    beforeTool: hooks.beforeTool?.bind(hooks),
    afterTool: hooks.afterTool?.bind(hooks),
    beforeStop: hooks.beforeStop?.bind(hooks),
    onContextOverflow: hooks.onContextOverflow?.bind(hooks),
  });
}

/** Keeps an input or a call from going ahead. The host, or the model in place of a result, reads `reason`. */
export type Block = { decision: 'block'; reason: string };
/** The tool call that a hook is about. */
export type HookedCall = {
  callId: string;
  name: string;
  args: JsonObject;
  sessionId: string;
  signal: AbortSignal;
};

/** How a hook has answered. `none`: there is no such hook, or it returned nothing. */
export type HookAnswer<T> =
  | { kind: 'none' }
  | { kind: 'answered'; value: T }
  | { kind: 'failed'; message: string };

/** How long a hook may take to settle after an interrupt. */
const ABORT_GRACE_MS = 1_000;

/** Calls one hook under the contract of `Hooks`. Must not reject. */
export async function askHook<T extends object>(
  name: keyof Hooks,
  hook: (() => Maybe<T>) | undefined,
  { emit, signal }: { emit: Emit; signal: AbortSignal },
): Promise<HookAnswer<T>> {
  if (hook === undefined) return { kind: 'none' };
  const work = Promise.resolve()
    .then(hook)
    .then(
      (value): HookAnswer<T> => (value ? { kind: 'answered', value } : { kind: 'none' }),
      (error): HookAnswer<T> => {
        const message = `the hook ${name} failed: ${messageOf(error)}`;
        emit('ERROR', { code: 'hook-failed', message });
        return { kind: 'failed', message };
      },
    );
  const answer = await raceAbort(work, signal, ABORT_GRACE_MS);
  return answer ?? { kind: 'failed', message: `${whoAborted(signal)} interrupted` };
}
