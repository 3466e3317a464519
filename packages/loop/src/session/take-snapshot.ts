import { present } from '@whetstone/events/present';
import type { SessionSnapshot } from '../conversation/snapshot.ts';
import type { LoopContext } from '../loop/loop-context.ts';

/** What a snapshot holds besides the state of the loop; empty lists are left out. */
type Beside = {
  [Field in 'preamble' | 'followUps' | 'parkedArguments' | 'subagents']: SessionSnapshot[Field] | undefined;
};

/** The session as it is now, as JSON. Synchronous, so that a session and its subagents are caught at one moment. */
export function takeSnapshot(context: LoopContext, beside: Beside): SessionSnapshot {
  const { sessionId, history, config, steering, parked, outputSchema, meter, foreignTurns } = context;
  const { preamble, followUps, parkedArguments, subagents } = beside;
  return {
    version: 1,
    id: sessionId,
    turns: [...history.turns],
    ...present({
      preamble,
      reasoningEffort: config.reasoningEffort,
      steering: unlessEmpty(steering.messages),
      followUps: unlessEmpty(followUps),
      parked,
      parkedArguments,
      outputSchema: parked && outputSchema,
      subagents: unlessEmpty(subagents),
      foreignTurns: foreignTurns || undefined,
    }),
    spent: meter.spent,
  };
}

function unlessEmpty<T>(items: readonly T[] = []): T[] | undefined {
  return items.length === 0 ? undefined : [...items];
}
