import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Preamble } from '../conversation/preamble.ts';
import type { SessionSnapshot, SubagentSnapshot } from '../conversation/snapshot.ts';
import type { Input } from '../conversation/turn.ts';
import type { LoopContext } from '../loop/loop-context.ts';

/** What a snapshot holds besides the state of the loop. */
type Beside = {
  /** What the last request began with, where the session still has the profile of that request. */
  preamble: Preamble | undefined;
  followUps: readonly Input[];
  parkedArguments: Record<string, JsonObject> | undefined;
  subagents: SubagentSnapshot[];
};

/** The session as it is now, as JSON. Synchronous, so that a session and its subagents are caught at one moment. */
export function takeSnapshot(context: LoopContext, beside: Beside): SessionSnapshot {
  const { sessionId, history, config, steering, parked, meter, foreignTurns } = context;
  const { preamble, followUps, parkedArguments, subagents } = beside;
  return {
    version: 1,
    id: sessionId,
    turns: [...history.turns],
    ...present({ preamble, reasoningEffort: config.reasoningEffort }),
    ...(steering.messages.length > 0 && { steering: [...steering.messages] }),
    ...(followUps.length > 0 && { followUps: [...followUps] }),
    ...present({ parked, parkedArguments }),
    ...(subagents.length > 0 && { subagents }),
    ...(foreignTurns > 0 && { foreignTurns }),
    spent: meter.spent,
  };
}
