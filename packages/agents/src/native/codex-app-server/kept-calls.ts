import type { StreamEvent } from '@whetstone/events';
import {
  type EndedTurn,
  isBefore,
  isPlainId,
  type KeptRecord,
  readHomeFile,
  subagentEvents,
} from '../../kit/kept-events.ts';
import { CodexRollout } from '../codex-cli/transcript.ts';

/** The tools whose calls the server reports as items, and sometimes does not: a command that its sandbox stops at once. */
const REPORTED = new Set(['exec_command', 'shell', 'shell_command', 'local_shell', 'apply_patch']);

/** What the stream leaves out: the sub-agents, each with a thread of its own, and commands that the sandbox stopped. */
export async function keptCalls(turn: EndedTurn): Promise<KeptRecord> {
  const rollout = (thread: string, emit: (event: StreamEvent) => void) => {
    const file = { folder: '.codex', name: `rollout-*-${thread}.jsonl` };
    return readHomeFile(turn, file, new CodexRollout(turn.place), emit);
  };
  const events = await subagentEvents(turn, rollout);
  const { sessionId = '' } = turn.summary;
  if (!isPlainId(sessionId)) return { events };
  const seen = new Set(turn.events.flatMap((event) => ('callId' in event ? [event.callId] : [])));
  const missing = new Set<string>();
  try {
    await rollout(sessionId, (event) => {
      if (isBefore(event, turn.startedAt)) return;
      if (event.type === 'action.called' && REPORTED.has(event.name) && !seen.has(event.callId)) {
        missing.add(event.callId);
      }
      if ('callId' in event && missing.has(event.callId ?? '')) events.push(event);
    });
  } catch {
    // An ephemeral thread has no rollout. Then the stream is all that is known.
  }
  return { events };
}
