import type { StreamEvent } from '@whetstone/events';
import { collectCalls, isPlainId, readHomeFile, subagentEvents } from '../../kit/kept-events.ts';
import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch, mcpLog } from './launch.ts';
import { GeminiStream } from './stream.ts';
import { GeminiTranscript } from './transcript.ts';

/** After a provider error, its exit code is the HTTP status modulo 256. With model `auto` it makes one more request. */
export const geminiCli: DrivenAgent = {
  kind: 'gemini-cli',
  facts,
  release,
  launch,
  mcpLog,
  stream: { open: (place) => new GeminiStream(place) },
  transcript: {
    kind: 'files',
    // Below `GEMINI_CLI_HOME`: the file of each session, and one file per sub-agent in a folder named after the session.
    // A resumed session continues in its first file; it also makes a new file, which has no prompt.
    pattern: '.gemini/tmp/*/chats/{session-*,*/*}.jsonl',
    createMapper: (place) => new GeminiTranscript(place),
  },

  // The stream has one usage for all model calls of a model. The calls, and the events of sub-agents, are in session
  // files: one for each sub-agent, and that of the main session, which says which call started which sub-agent.
  async keptEvents(turn) {
    const { sessionId = '' } = turn.summary;
    if (!isPlainId(sessionId)) return { events: [] };
    const { calls, take } = collectCalls(turn);
    const isDelegated = turn.events.some(({ type }) => type === 'subagent.called');
    const sessionFile = (name: string, emit: (event: StreamEvent) => void) => {
      const mapper = new GeminiTranscript(turn.place);
      return readHomeFile(turn, { folder: '.gemini/tmp', name }, mapper, emit);
    };
    const reading = sessionFile(`session-*-${sessionId.slice(0, 8)}.jsonl`, take);
    // Without a sub-agent the stream has all events and usage.
    const summary = isDelegated ? await reading : await reading.catch(() => undefined);
    if (!summary) return { events: [] };
    if (!isDelegated) return { events: [], calls };
    const events = await subagentEvents({ ...turn, summary }, (id, emit) => sessionFile(`${id}.jsonl`, emit));
    for (const event of events) take(event);
    return { events: events.filter(({ type }) => type !== 'usage'), calls };
  },
};
