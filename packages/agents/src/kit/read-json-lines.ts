import { isUtf8 } from 'node:buffer';
import { type JsonValue, parseJson, type StreamEvent } from '@whetstone/events';
import { objectIn } from './fields.ts';
import { LineReader } from './line-reader.ts';
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
