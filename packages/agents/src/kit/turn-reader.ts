import { glob, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import { createConfinedFiles } from '@whetstone/sandbox';
import type { NativeAgent, TranscriptFormat } from '../native/native-agent.ts';
import type { CreateMapper, MapperPlace, NativeMapper } from './native-mapper.ts';
import { type JsonLinesReader, type JsonLinesSummary, readJsonLines } from './read-json-lines.ts';

const OPENING_BRACE = '{'.charCodeAt(0);

/**
 * Reads what one agent does in the turns of one attempt. However the agent was started, the same reader reads it:
 * a driver, a command template and a telemetry collector differ only in how the program is launched.
 */
export type TurnReader = {
  /** Begins to read a turn. `isNew`: the turn is the first of its session. */
  begin(turn: { isNew: boolean; emit: (event: StreamEvent) => void }): TurnReading;
};

export type TurnReading = {
  /** Takes standard output as it arrives. */
  push(chunk: Buffer): void;
  /** The process has ended: what could be read of the turn. */
  end(): Promise<Reading>;
};

export type Reading =
  /** The agent printed its stream. `mapper` holds what only its kind reports. */
  | { source: 'stream'; summary: JsonLinesSummary; mapper: NativeMapper }
  /** It printed text, and its transcript says what it did. */
  | { source: 'transcript'; summary: JsonLinesSummary }
  /** It printed text, and that is all. `gaps`: what was looked for and is not there. */
  | { source: 'text'; gaps: string[] };

export type TurnReaderOptions = {
  /** Whose output it is. Absent: an agent of which nothing is known. */
  agent: NativeAgent | undefined;
  /** The name that a session of text is reported under. */
  runtime: string;
  /** `always`: what is printed is the stream. `detect`: it is, if its first character opens a JSON object. */
  stream: 'always' | 'detect';
  place: MapperPlace & { workdir: string };
  /** The agent's home. */
  home: string;
};

export function createTurnReader(options: TurnReaderOptions): TurnReader {
  const { agent, stream, place } = options;
  if (agent?.stream)
    return stream === 'always' ? streamReader(agent.stream.open, place) : detectingReader(options);
  return agent?.transcript?.kind === 'files'
    ? transcriptReader(agent.transcript, options)
    : textReader(options);
}

type OpenStream = NonNullable<NativeAgent['stream']>['open'];

/** The mapper of the turn before counts: some agents report the usage of the whole session. */
function streamReader(open: OpenStream, place: MapperPlace): TurnReader {
  let mapper: NativeMapper | undefined;
  return {
    begin({ isNew, emit }) {
      const opened = open(place, isNew ? 'new' : (mapper ?? 'unread'));
      mapper = opened;
      const reader = readJsonLines(opened, emit);
      return {
        push: (chunk) => reader.push(chunk),
        end: async () => ({ source: 'stream', summary: reader.end(), mapper: opened }),
      };
    },
  };
}

/** A command may ask its agent for JSON or for text: the first character that is not white space tells. */
function detectingReader(options: TurnReaderOptions): TurnReader {
  const { agent, place } = options;
  if (!agent?.stream) return textReader(options);
  const streams = streamReader(agent.stream.open, place);
  const texts = textReader(options);
  return {
    begin(turn) {
      let reading: TurnReading | undefined;
      return {
        push(chunk) {
          const first = chunk.find((byte) => byte > 0x20);
          if (!reading && first === undefined) return;
          reading ??= (first === OPENING_BRACE ? streams : texts).begin(turn);
          reading.push(chunk);
        },
        end: async () => (reading ? await reading.end() : { source: 'text', gaps: [] }),
      };
    },
  };
}

function textReader({ runtime, place }: TurnReaderOptions): TurnReader {
  return {
    begin({ emit }) {
      emit({ type: 'session.started', runtime, workingDir: place.workdir });
      return { push: () => {}, end: async () => ({ source: 'text', gaps: [] }) };
    },
  };
}

/** What the agent prints is text for people; its transcript, a file in its home, says what it did. */
function transcriptReader(
  { pattern, createMapper }: Extract<TranscriptFormat, { kind: 'files' }>,
  options: TurnReaderOptions,
): TurnReader {
  const { place, home } = options;
  const texts = textReader(options);
  /** How much of each file earlier turns have read: a session is one file, which grows. */
  const read = new Map<string, number>();
  return {
    begin(turn) {
      texts.begin(turn);
      return {
        push: () => {},
        async end() {
          const file = await newestFile(home, pattern);
          const content = file === undefined ? undefined : await createConfinedFiles(home).read(file);
          const before = read.get(file ?? '') ?? 0;
          if (file === undefined || !content || content.length === before) {
            return { source: 'text', gaps: ['transcript_missing'] };
          }
          read.set(file, content.length);
          // A file that has become shorter was written anew.
          const added = content.length > before ? content.subarray(before) : content;
          return { source: 'transcript', summary: readWhole(createMapper, place, added, turn.emit) };
        },
      };
    },
  };
}

function readWhole(
  createMapper: CreateMapper,
  place: MapperPlace,
  content: Buffer,
  emit: (event: StreamEvent) => void,
): JsonLinesSummary {
  const reader: JsonLinesReader = readJsonLines(createMapper(place), emit);
  reader.push(content);
  return reader.end();
}

async function newestFile(home: string, pattern: string): Promise<string | undefined> {
  let newest: { path: string; at: number } | undefined;
  for await (const path of glob(pattern, { cwd: home })) {
    const at = (await stat(join(home, path)).catch(() => undefined))?.mtimeMs;
    if (at !== undefined && (!newest || at > newest.at)) newest = { path, at };
  }
  return newest?.path;
}
