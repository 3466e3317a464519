import type { StreamEvent } from '@whetstone/events';
import { isPlainId, readHomeFile, subagentEvents } from '../../kit/kept-events.ts';
import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { GeminiStream } from './stream.ts';
import { GeminiTranscript } from './transcript.ts';

/** After a provider error, its exit code is the HTTP status modulo 256. With model `auto` it makes one more request. */
export const geminiCli: DrivenAgent = {
  kind: 'gemini-cli',
  facts,
  release,
  launch,
  stream: { open: (place) => new GeminiStream(place) },
  transcript: {
    kind: 'files',
    // Below `GEMINI_CLI_HOME`: the file of each session, and one file per sub-agent in a folder named after the session.
    // A resumed session continues in its first file; it also makes a new file, which has no prompt.
    pattern: '.gemini/tmp/*/chats/{session-*,*/*}.jsonl',
    createMapper: (place) => new GeminiTranscript(place),
  },

  // The stream has the usage of sub-agents. Their events are in their own session files, and the file of the main
  // session says which call started which sub-agent.
  async keptEvents(turn) {
    const { sessionId = '' } = turn.summary;
    if (!isPlainId(sessionId) || !turn.events.some(({ type }) => type === 'subagent.called')) return [];
    const sessionFile = (name: string, emit: (event: StreamEvent) => void) => {
      const mapper = new GeminiTranscript(turn.place);
      return readHomeFile(turn, { folder: '.gemini/tmp', name }, mapper, emit);
    };
    const summary = await sessionFile(`session-*-${sessionId.slice(0, 8)}.jsonl`, () => {});
    const events = await subagentEvents({ ...turn, summary }, (id, emit) => sessionFile(`${id}.jsonl`, emit));
    return events.filter(({ type }) => type !== 'usage');
  },
};
