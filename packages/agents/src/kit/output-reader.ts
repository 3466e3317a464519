import { glob, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { createConfinedFiles } from '@whetstone/sandbox';
import type { NativeAgent, TranscriptFormat } from '../native/native-agent.ts';
import type { MapperPlace, NativeMapper } from './native-mapper.ts';
import { type JsonLinesSummary, readJsonLines } from './read-json-lines.ts';

/** Reads the turns of one agent in one attempt, however its program is launched. */
export type OutputReader = {
  /** Begins to read a turn. `isNew` is true in the first turn of a session. */
  begin(turn: { isNew: boolean; emit: (event: StreamEvent) => void }): OutputReading;
};

export type OutputReading = {
  /** Takes standard output as it arrives. */
  push(chunk: Buffer): void;
  /** Of the mapper. Default: none. */
  refusals?: () => number;
  /** Returns what could be read of the turn, after its process has ended. */
  end(): Promise<Reading>;
};

export type Reading =
  /** The agent printed its stream. `mapper` has facts that only its kind reports. */
  | { source: 'stream'; summary: JsonLinesSummary; mapper: NativeMapper }
  /** The agent printed text, and its transcript has the events. */
  | { source: 'transcript'; summary: JsonLinesSummary }
  /** The agent printed only text. `gaps` names the evidence that is missing. */
  | { source: 'text'; gaps: string[] };

export type OutputReaderOptions = {
  /** The agent that prints the output. Absent: an unknown agent. */
  agent: NativeAgent | undefined;
  /** The runtime in the `session.started` event of text output. */
  runtime: string;
  /** `always`: the output is the stream. `detect`: the output is the stream if it begins with an object or a list of them. */
  stream: 'always' | 'detect';
  place: MapperPlace & { workdir: string };
  home: string;
};

export function createOutputReader(options: OutputReaderOptions): OutputReader {
  const { agent, stream, place } = options;
  if (agent?.stream) {
    const streams = streamReader(agent.stream.open, place);
    return stream === 'always' ? streams : detectingReader(streams, textReader(options));
  }
  return agent?.transcript?.kind === 'files'
    ? transcriptReader(agent.transcript, options)
    : textReader(options);
}

/** Passes on the mapper of the turn before, because some agents report the usage of the whole session. */
function streamReader(open: NonNullable<NativeAgent['stream']>['open'], place: MapperPlace): OutputReader {
  let mapper: NativeMapper | undefined;
  return {
    begin({ isNew, emit }) {
      const opened = open(place, isNew ? 'new' : (mapper ?? 'unread'));
      mapper = opened;
      const reader = readJsonLines(opened, emit);
      return {
        push: (chunk) => reader.push(chunk),
        ...present({ refusals: opened.refusals }),
        end: async () => ({ source: 'stream', summary: reader.end(), mapper: opened }),
      };
    },
  };
}

/** Whether output begins with an object, or with a list of objects; `undefined`: that is not clear yet. */
function beginsWithJson(output: Buffer): boolean | undefined {
  const [first, second] = output.toString('utf8', 0, 4096).replace(/[\s\ufeff]+/g, '');
  if (first === '[') return second === undefined ? undefined : second === '{';
  return first === undefined ? (output.length > 4096 ? false : undefined) : first === '{';
}

/** A command may print JSON or text. The first characters that are not white space decide. */
function detectingReader(streams: OutputReader, texts: OutputReader): OutputReader {
  return {
    begin(turn) {
      let reading: OutputReading | undefined;
      let beginning: Buffer = Buffer.alloc(0);
      return {
        push(chunk) {
          if (reading) return reading.push(chunk);
          beginning = Buffer.concat([beginning, chunk]);
          const isJson = beginsWithJson(beginning);
          if (isJson === undefined) return;
          reading = (isJson ? streams : texts).begin(turn);
          reading.push(beginning);
        },
        end: async () => (reading ? await reading.end() : { source: 'text', gaps: [] }),
      };
    },
  };
}

function textReader({ runtime, place }: OutputReaderOptions): OutputReader {
  return {
    begin({ emit }) {
      emit({ type: 'session.started', runtime, workingDir: place.workdir });
      return { push: () => {}, end: async () => ({ source: 'text', gaps: [] }) };
    },
  };
}

/** For an agent that prints plain text. Its transcript, a file in its home, has the events. */
function transcriptReader(
  { pattern, createMapper }: Extract<TranscriptFormat, { kind: 'files' }>,
  options: OutputReaderOptions,
): OutputReader {
  const { place, home } = options;
  const texts = textReader(options);
  /** How many bytes of each file earlier turns have read. A session is one file, which grows. */
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
          // A file that is shorter than before was rewritten.
          const added = content.length > before ? content.subarray(before) : content;
          const reader = readJsonLines(createMapper(place), turn.emit);
          reader.push(added);
          return { source: 'transcript', summary: reader.end() };
        },
      };
    },
  };
}

async function newestFile(home: string, pattern: string): Promise<string | undefined> {
  let newest: { path: string; at: number } | undefined;
  for await (const path of glob(pattern, { cwd: home })) {
    const at = (await stat(join(home, path)).catch(() => undefined))?.mtimeMs;
    if (at !== undefined && (!newest || at > newest.at)) newest = { path, at };
  }
  return newest?.path;
}
