import type { JsonObject } from '@whetstone/events';
import type { Input, Part, Turn } from '../conversation/turn.ts';
import type { Emit, ToolCallEnd } from '../events/session-event.ts';
import { raceAbort } from './race-abort.ts';

type Maybe<T> = T | undefined | Promise<T | undefined>;

/**
 * What a host may put between the steps of a session. Each may be asynchronous and must listen to the `signal` it is
 * given; a hook that outlives an interrupt is left behind. One that throws is reported as an `ERROR` with code `hook`
 * and counts as a refusal where it guards something: the input is blocked, the call does not run, the result is
 * withheld. Subagents inherit `beforeTool` and `afterTool`.
 */
export type Hooks = {
  /** Before an input, a follow-up included, enters the history. May replace or block it. */
  beforeSubmit?(submit: { input: Input; signal: AbortSignal }): Maybe<Block | { input: Input }>;
  /**
   * After validation, before the approval; once a call, also where the approval is put off. Replaced arguments are
   * validated again.
   */
  beforeTool?(call: HookedCall): Maybe<Block | { args: JsonObject }>;
  /** After a call has run. What it returns takes the place of the result, for the model and for the events. */
  afterTool?(
    call: HookedCall & Pick<ToolCallEnd, 'status' | 'isError' | 'details'> & { content: string | Part[] },
  ): Maybe<{ content?: string | Part[]; isError?: boolean }>;
  /** Before an input ends naturally. `continueWith` is steered in instead; `continuations` counts how often this happened. */
  beforeStop?(stop: {
    text: string;
    continuations: number;
    signal: AbortSignal;
  }): Maybe<{ continueWith: Input }>;
  /**
   * The conversation is longer than the model's window. Turns that are returned take the place of the history, and the
   * call is made once more; without them the input ends with `context_overflow`.
   */
  onContextOverflow?(overflow: {
    turns: readonly Turn[];
    message: string;
    signal: AbortSignal;
  }): Maybe<{ turns: readonly Turn[] }>;
};

export type Block = { decision: 'block'; reason: string };
export type HookedCall = {
  callId: string;
  name: string;
  args: JsonObject;
  sessionId: string;
  signal: AbortSignal;
};

/** What a hook came to. `none`: there is no such hook, or it had nothing to say. */
export type HookAnswer<T> =
  | { kind: 'none' }
  | { kind: 'answered'; value: T }
  | { kind: 'failed'; message: string };

/** What a hook may still take to say its word after an interrupt. */
const ABORT_GRACE_MS = 1_000;

/** Calls one hook under the contract of `Hooks`. Never rejects. */
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
        const message = `the hook ${name} failed: ${error instanceof Error ? error.message : String(error)}`;
        emit('ERROR', { code: 'hook', message });
        return { kind: 'failed', message };
      },
    );
  return (
    (await raceAbort(work, signal, ABORT_GRACE_MS)) ?? { kind: 'failed', message: 'the user interrupted' }
  );
}
