import { collectCalls, isPlainId, readHomeFile } from '../../kit/kept-events.ts';
import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { CopilotStream } from './stream.ts';
import { CopilotTranscript } from './transcript.ts';

/** Needs no login. Its tools depend on the model's name. It unpacks 235 MB into a new home unless `unpacked` is set. */
export const copilot: DrivenAgent = {
  kind: 'copilot',
  facts,
  release,
  launch,
  stream: { open: (place) => new CopilotStream(place) },
  transcript: {
    kind: 'files',
    // With the default `COPILOT_HOME`: one file per session, with its sub-agents.
    pattern: '.copilot/session-state/*/events.jsonl',
    createMapper: (place) => new CopilotTranscript(place),
  },

  // Only the session file has token counts; they include sub-agents.
  async keptEvents(turn) {
    const { sessionId = '' } = turn.summary;
    if (!isPlainId(sessionId)) return { events: [] };
    const { calls, take } = collectCalls(turn);
    const file = { folder: `.copilot/session-state/${sessionId}`, name: 'events.jsonl' };
    await readHomeFile(turn, file, new CopilotTranscript(turn.place), take);
    return { events: calls };
  },
};
