import { isUtf8 } from 'node:buffer';
import { type JsonValue, parseJson, type StreamEvent } from '@whetstone/events';
import { objectIn } from './fields.ts';
import type { NativeMapper, NativeSummary } from './native-mapper.ts';

const LINE_LIMIT_BYTES = 8 * 1024 * 1024;
/** The same limit as for the log file, so that an endless stream does not give endless events. Also of a document. */
const EVENTS_LIMIT_BYTES = 64 * 1024 * 1024;

/** Turns a stream of JSON Lines into events. Never throws, for any input. */
export type JsonLinesReader = {
  push(chunk: Buffer): void;
  /** Reads the last line, which may have no newline, and sums up the stream. */
  end(): JsonLinesSummary;
};

export type JsonLinesSummary = NativeSummary & {
  lines: number;
  /** Lines that are not JSON objects. */
  malformed: number;
  /** JSON objects that the mapper does not know. */
  unknown: number;
  /** Lines over 8 MiB, which were dropped as they arrived. */
  tooLong: number;
  /** Whether items after the first 64 MiB gave no events. The summary still counts them. */
  isTruncated: boolean;
};

/** An item that the mapper does not know, or a line that is not JSON, becomes a `raw` event with all of it. */
export const readJsonLines = (mapper: NativeMapper, emit: (event: StreamEvent) => void): JsonLinesReader =>
  readItems(mapper, emit, 'line');

/**
 * Reads a transcript that is one JSON document, with any line breaks, as one item. Anything but a JSON object becomes a
 * `raw` event with all of it. For a document over 64 MiB, the event has only the size.
 */
export const readDocument = (mapper: NativeMapper, emit: (event: StreamEvent) => void): JsonLinesReader =>
  readItems(mapper, emit, 'document');

function readItems(
  mapper: NativeMapper,
  emit: (event: StreamEvent) => void,
  form: 'line' | 'document',
): JsonLinesReader {
  const counts = { lines: 0, malformed: 0, unknown: 0, tooLong: 0, isTruncated: false };
  let bytes = 0;

  function readItem(item: Buffer | 'too-long'): void {
    if (item === 'too-long') {
      counts.lines += 1;
      counts.tooLong += 1;
      counts.isTruncated ||= form === 'document';
      emit({ type: 'raw', native: DROPPED[form] });
      return;
    }
    const events = mapItem(mapper, item, counts);
    // Lines without events do not count, because progress is most of the stream of some agents.
    if (events.length > 0) bytes += item.length;
    if (bytes > EVENTS_LIMIT_BYTES) counts.isTruncated = true;
    if (!counts.isTruncated) for (const event of events) emit(event);
  }

  const lines =
    form === 'line'
      ? new LineReader(readItem, LINE_LIMIT_BYTES, '\n')
      : new LineReader(readItem, EVENTS_LIMIT_BYTES);
  return {
    push: (chunk) => lines.push(chunk),
    end() {
      lines.end();
      return { ...mapper.summary(), ...counts };
    },
  };
}

const DROPPED = {
  line: { droppedLine: 'longer than 8 MiB' },
  document: { droppedDocument: 'longer than 64 MiB' },
};

type Counts = Pick<JsonLinesSummary, 'lines' | 'malformed' | 'unknown'>;

/** Maps one item and counts it. A blank line has no events. */
function mapItem(mapper: NativeMapper, line: Buffer, counts: Counts): StreamEvent[] {
  if (isBlank(line)) return [];
  counts.lines += 1;
  // JSON is UTF-8. Decoding other bytes would change them.
  const item = isUtf8(line) ? objectIn(parseJson(line.toString('utf8'))) : undefined;
  if (!item) {
    counts.malformed += 1;
    return [{ type: 'raw', native: textOf(line) }];
  }
  try {
    const events = mapper.map(item);
    if (events) return events;
  } catch {
    // A shape of another version.
  }
  counts.unknown += 1;
  return [{ type: 'raw', native: item }];
}

/** The unchanged bytes: as text if they are UTF-8, otherwise as base64. */
const textOf = (line: Buffer): JsonValue =>
  isUtf8(line) ? line.toString('utf8') : { base64: line.toString('base64') };

const isBlank = (line: Buffer): boolean =>
  /^\s*$/.test(line.subarray(0, 64).toString('latin1')) && line.length <= 64;

/**
 * Cuts a byte stream into lines; without a separator, the whole stream is one line. A line over the limit is dropped as
 * it arrives and reported as `too-long`.
 */
class LineReader {
  readonly #onLine: (line: Buffer | 'too-long') => void;
  readonly #limit: number;
  readonly #separator: string | undefined;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(onLine: (line: Buffer | 'too-long') => void, limit: number, separator?: string) {
    this.#onLine = onLine;
    this.#limit = limit;
    this.#separator = separator;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    for (let end = this.#endIn(rest); end !== -1; end = this.#endIn(rest)) {
      this.#append(rest.subarray(0, end));
      this.#finishLine();
      rest = rest.subarray(end + 1);
    }
    this.#append(rest);
  }

  #endIn(chunk: Buffer): number {
    return this.#separator === undefined ? -1 : chunk.indexOf(this.#separator);
  }

  /** The last line may have no newline. */
  end(): void {
    if (this.#length > 0) this.#finishLine();
  }

  #append(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#limit) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
    // The objects of many small chunks would need more memory than their bytes.
    if (this.#parts.length > 1_000) this.#parts = [Buffer.concat(this.#parts)];
  }

  #finishLine(): void {
    const line = this.#length > this.#limit ? 'too-long' : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    this.#onLine(line);
  }
}
