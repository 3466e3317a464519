import { isJsonObject, parseJson, type StreamEvent } from '@whetstone/events';
import { type EndedTurn, type KeptRecord, readPrinted, subagentEvents } from '../../kit/kept-events.ts';
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
    events: await subagentEvents(turn, (session, emit) => readSession(turn, session, emit)),
    ...(await chosenModels(turn)),
  }),
  mcpLog: {
    file: '.local/share/opencode/log/opencode.log',
    mark: '"server unavailable"',
    failure: / key=(?<names>\S+)(?: type=\S+)? status=(?<why>\S+)/,
  },
};

function readSession(turn: EndedTurn, session: string, emit: (event: StreamEvent) => void) {
  const reader = readDocument(new OpencodeTranscript(turn.place), emit);
  return readPrinted(turn, ['/bin/sh', '-c', PRINT_SESSION, turn.program, session], reader);
}

/** The models that OpenCode chose itself, which its stream does not name. */
async function chosenModels(turn: EndedTurn): Promise<Pick<KeptRecord, 'facts'>> {
  const settings = parseJson(turn.options.env?.OPENCODE_CONFIG_CONTENT ?? '');
  const { sessionId } = turn.summary;
  if (!isJsonObject(settings) || settings.model !== undefined || sessionId === undefined) return {};
  const models = new Set<string>();
  const collect = (event: StreamEvent): void => {
    if (event.type === 'usage' && event.model !== undefined) models.add(event.model);
  };
  // Without them, only the name is missing.
  await readSession(turn, sessionId, collect).catch(() => undefined);
  return models.size === 0 ? {} : { facts: { models: [...models] } };
}

/** Through a file: OpenCode 1.18 may exit before it has written all of a large document into a pipe. */
const PRINT_SESSION =
  'file=$(mktemp) && "$0" export "$1" > "$file" && cat "$file"; code=$?; rm -f "$file"; exit $code';
