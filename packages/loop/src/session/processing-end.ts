import { present } from '@whetstone/events/present';
import type { ProcessingEnd } from '../events/session-event.ts';
import type { LoopContext, LoopOutcome } from '../loop/loop-context.ts';

/** What is known of a chain at its end, besides the state of the loop. */
type Beside = {
  durationMs: number;
  /** Follow-ups that wait. */
  followUps: number;
  /** Ids of the subagents that are still working. */
  runningSubagents: readonly string[];
};

/** The data of `PROCESSING_END`. */
export function processingEnd(
  { meter, steering, parked }: LoopContext,
  { reason, error }: LoopOutcome,
  { durationMs, followUps, runningSubagents }: Beside,
): ProcessingEnd {
  const { usage, costUsd, modelCalls, toolRounds } = meter.submit;
  return {
    reason,
    usage,
    ...present({ costUsd }),
    modelCalls,
    toolRounds,
    durationMs,
    queued: followUps + steering.messages.length,
    ...(parked && { parked: parked.waiting }),
    ...(runningSubagents.length > 0 && { runningSubagents }),
    ...present({ error }),
  };
}
