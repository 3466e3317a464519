import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import {
  collectCalls,
  type EndedTurn,
  isPlainId,
  type KeptRecord,
  readHomeFile,
  subagentEvents,
} from '../../kit/kept-events.ts';
import { CodexRollout } from './transcript.ts';

/**
 * The stream covers only the thread that was prompted, with one usage for all its model calls; each sub-agent has a
 * thread of its own. The rollouts have each call, its model, the version and the settings.
 */
export async function keptRollouts(turn: EndedTurn): Promise<KeptRecord> {
  const rollout = (thread: string, emit: (event: StreamEvent) => void) => {
    const file = { folder: '.codex/sessions', name: `rollout-*-${thread}.jsonl` };
    return readHomeFile(turn, file, new CodexRollout(turn.place), emit);
  };
  const events = await subagentEvents(turn, rollout);
  const { sessionId = '' } = turn.summary;
  if (!isPlainId(sessionId)) return { events };
  const { calls, take } = collectCalls(turn);
  let runtimeVersion: string | undefined;
  try {
    const summary = await rollout(sessionId, (event) => {
      take(event);
      if (event.type === 'session.started') runtimeVersion ??= event.runtimeVersion;
    });
    const facts = { ...present({ runtimeVersion }), ...summary.facts };
    // Of a turn that failed, and of a thread that another process began, the stream has no usage.
    if (!turn.summary.usage) return { events: [...calls, ...events], facts };
    return { events, calls, facts };
  } catch {
    // With `--ephemeral` there is no rollout. Then the stream is all that is known.
    return { events };
  }
}
