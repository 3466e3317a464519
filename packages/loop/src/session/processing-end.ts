import { present } from '@whetstone/events/present';
import type { ProcessingEnd } from '../events/session-event.ts';
import type { LoopContext, LoopOutcome } from '../loop/loop-context.ts';

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
