import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { watchWallTime } from '../control/budget.ts';
import { checkSubmit } from '../control/check-hook-answer.ts';
import { askHook } from '../control/hooks.ts';
import { isTimeout, onAbort } from '../control/race-abort.ts';
import type { Input } from '../conversation/turn.ts';
import { initializeOnce } from '../environment/environment-root.ts';
import type { ProcessingEnd } from '../events/session-event.ts';
import { runLoop } from '../loop/loop.ts';
import type { LoopContext, LoopOutcome, LoopStart } from '../loop/loop-context.ts';

/** What ends the work on a chain of inputs early: the end of the session, or an interrupt. */
export type ChainEnds = { closing: AbortSignal; interruption: AbortController };

/**
 * Works on an input and then on the follow-ups that wait, for as long as each input ends with `completed`. Resolves
 * with the outcome of the last one.
 *
 * Contract: must not reject. A fault of the loop itself is an outcome with the error `session-failed`.
 */
export async function runChain(
  context: LoopContext,
  start: LoopStart,
  followUps: Input[],
  { closing, interruption }: ChainEnds,
): Promise<LoopOutcome> {
  const { signal } = interruption;
  // Not `AbortSignal.any`: listening to its signals is slow, and each round does so several times.
  using _closing = onAbort(closing, () => interruption.abort(closing.reason));
  context.meter.beginSubmit();
  using _guard = { [Symbol.dispose]: () => endCalls(context) };
  using _watch = watchWallTime(context.meter, () => interruption.abort(wallTimeOver()));
  let outcome = await runOne(context, start, signal);
  while (outcome.reason === 'completed') {
    const input = followUps.shift();
    if (input === undefined) break;
    outcome = await runOne(context, { kind: 'input', input }, signal);
  }
  context.meter.rest();
  return whyInterrupted(context, outcome, { closing, interruption });
}

function endCalls(context: LoopContext): void {
  context.callGuard?.[Symbol.dispose]();
  context.callGuard = undefined;
}

/** The reason of an interrupt by the time limit. It keeps the model from reading that the user interrupted. */
function wallTimeOver(): DOMException {
  return new DOMException('The wall time of the budget is used up.', 'TimeoutError');
}

function whyInterrupted(
  { meter, emit }: LoopContext,
  outcome: LoopOutcome,
  { closing, interruption }: ChainEnds,
): LoopOutcome {
  if (outcome.reason !== 'interrupted') return outcome;
  if (closing.aborted) return { ...outcome, reason: 'aborted' };
  const limit = isTimeout(interruption.signal) ? meter.reached() : undefined;
  if (!limit) return outcome;
  emit('TURN_LIMIT', limit);
  return { ...outcome, reason: 'wall_time' };
}

async function runOne(context: LoopContext, start: LoopStart, signal: AbortSignal): Promise<LoopOutcome> {
  try {
    await initializeOnce(context.environment);
    const admitted = await admit(context, start, signal);
    return 'reason' in admitted ? admitted : await runLoop(context, admitted, signal);
  } catch (error) {
    const data = { code: 'session-failed', message: messageOf(error) } as const;
    context.emit('ERROR', data);
    return { reason: 'error', text: '', error: data };
  }
}

/** What the loop starts with after `beforeSubmit`, or the outcome of an input that the hook blocks. */
async function admit(
  { hooks, emit }: LoopContext,
  start: LoopStart,
  signal: AbortSignal,
): Promise<LoopStart | LoopOutcome> {
  const { beforeSubmit } = hooks;
  if (start.kind === 'resume' || !beforeSubmit) return start;
  const { input } = start;
  const ask = async () => checkSubmit(await beforeSubmit({ input, signal }));
  const answer = await askHook('beforeSubmit', ask, { emit, signal });
  if (signal.aborted) return { reason: 'interrupted', text: '' };
  if (answer.kind === 'none') return start;
  if (answer.kind === 'failed') return blocked(answer.message);
  if ('decision' in answer.value) return blocked(answer.value.reason);
  return { kind: 'input', input: answer.value.input };
}

function blocked(message: string): LoopOutcome {
  return { reason: 'blocked', text: '', error: { code: 'input-blocked', message } };
}

/** The data of `PROCESSING_END`. `followUps`: number of follow-ups that wait. */
export function processingEnd(
  { meter, steering, parked }: LoopContext,
  { reason, error }: LoopOutcome,
  {
    followUps,
    runningSubagents: running,
    durationMs,
  }: { followUps: number; runningSubagents: string[]; durationMs: number },
): ProcessingEnd {
  const { costUsd, ...counts } = meter.submit;
  const runningSubagents = running.length > 0 ? running : undefined;
  return {
    reason,
    ...counts,
    durationMs,
    queued: followUps + steering.messages.length,
    ...present({ costUsd, parked: parked?.waiting, runningSubagents, error }),
  };
}
