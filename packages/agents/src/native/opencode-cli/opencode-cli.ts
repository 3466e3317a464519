import { readPrinted, subagentEvents } from '../../kit/kept-events.ts';
import { readDocument } from '../../kit/read-json-lines.ts';
import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { OpencodeStream } from './stream.ts';
import { OpencodeTranscript } from './transcript.ts';

/**
 * OpenCode. Its prompt and tools depend on the model's name. The prompt comes from standard input, because a prompt as
 * an argument reaches the model in quotes. There is no end event: the last `step_finish` with reason `stop` is the end.
 */
export const opencodeCli: DrivenAgent = {
  kind: 'opencode-cli',
  facts,
  release,
  launch,
  stream: { open: (place) => new OpencodeStream(place) },
  transcript: {
    kind: 'printed',
    // Its standard output must be a file: see PRINT_SESSION.
    args: (sessionId) => ['export', sessionId],
    createMapper: (place) => new OpencodeTranscript(place),
  },

  // The stream covers only the session that was prompted; each sub-agent has a session of its own.
  keptEvents: async (turn) => ({
    events: await subagentEvents(turn, (session, emit) => {
      const reader = readDocument(new OpencodeTranscript(turn.place), emit);
      return readPrinted(turn, ['/bin/sh', '-c', PRINT_SESSION, turn.program, session], reader);
    }),
  }),
};

/** Through a file: OpenCode 1.18 may exit before it has written all of a large document into a pipe. */
const PRINT_SESSION =
  'file=$(mktemp) && "$0" export "$1" > "$file" && cat "$file"; code=$?; rm -f "$file"; exit $code';
