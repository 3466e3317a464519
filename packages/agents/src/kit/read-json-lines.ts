import { isUtf8 } from 'node:buffer';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  type StreamEvent,
} from '@whetstone/events';
import { objectIn } from './fields.ts';
import { LINE_LIMIT_BYTES, LineReader, STREAM_LIMIT_BYTES } from './line-reader.ts';
import type { NativeMapper, NativeSummary } from './native-mapper.ts';
import { withLoadedSkills } from './skill-file.ts';

/** The same limit as for the log file, so that an endless stream does not give endless events. Also of a document. */
const EVENTS_LIMIT_BYTES = STREAM_LIMIT_BYTES;

/** Turns a stream of JSON Lines into events. Never throws, for any input. */
export type JsonLinesReader = {
  push(chunk: Buffer): void;
  /** Reads the last line, which may have no newline, and sums up the stream. */
  end(): JsonLinesSummary;
};

export type JsonLinesSummary = NativeSummary & {
  lines: number;
  /** Lines that are neither JSON objects nor lists of them. */
  malformed: number;
  /** JSON objects that the mapper does not know. */
  unknown: number;
  /** Lines over 8 MiB, which were dropped as they arrived. */
  tooLong: number;
  /** Whether items after the first 64 MiB gave no events. The summary still counts them. */
  isTruncated: boolean;
};

/**
 * Reads JSON Lines; also the one document that some agents print instead: an object over several lines, or a list of
 * items. An item that the mapper does not know, or a line that is not JSON, becomes a `raw` event with all of it.
 */
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
  const add = withLoadedSkills(emit);
  let bytes = 0;
  /** The lines of a document so far, whose first line is only its opening bracket. */
  let document: Buffer[] = [];

  function report(events: readonly StreamEvent[], length: number): void {
    // Lines without events do not count, because progress is most of the stream of some agents.
    if (events.length > 0) bytes += length;
    if (bytes > EVENTS_LIMIT_BYTES) counts.isTruncated = true;
    if (!counts.isTruncated) for (const event of events) add(event);
  }

  function readItem(item: Buffer | 'too-long'): void {
    if (item === 'too-long') {
      counts.lines += 1;
      counts.tooLong += 1;
      counts.isTruncated ||= form === 'document';
      emit({ type: 'raw', native: DROPPED[form] });
      return;
    }
    if (form === 'line' && (document.length > 0 || OPENING.test(shortText(item)))) readDocumentLine(item);
    else report(mapValue(mapper, item, counts), item.length);
  }

  function readDocumentLine(line: Buffer): void {
    document.push(line);
    if (CLOSING.test(shortText(line))) endDocument();
  }

  /** What is not a document after all is read line by line. */
  function endDocument(): void {
    const lines = document;
    document = [];
    const whole = Buffer.concat(lines.flatMap((line) => [line, NEWLINE]));
    const isDocument = whole.length <= EVENTS_LIMIT_BYTES && parseJson(textOfJson(whole)) !== undefined;
    for (const item of isDocument ? [whole] : lines) report(mapValue(mapper, item, counts), item.length);
  }

  const lines =
    form === 'line'
      ? new LineReader(readItem, LINE_LIMIT_BYTES, '\n')
      : new LineReader(readItem, EVENTS_LIMIT_BYTES);
  return {
    push: (chunk) => lines.push(chunk),
    end() {
      lines.end();
      endDocument();
      report(mapper.end?.() ?? [], 0);
      return { ...mapper.summary(), ...counts };
    },
  };
}

/** A document over several lines begins and ends with a bracket on a line of its own. */
const OPENING = /^\ufeff?\s*[{[]\s*$/;
const CLOSING = /^[}\]]\s*$/;
const NEWLINE = Buffer.from('\n');

const shortText = (line: Buffer): string => (line.length <= 64 ? line.toString('utf8') : '');

/** Without the mark at the beginning that some programs write. */
const textOfJson = (bytes: Buffer): string => bytes.toString('utf8').replace(/^\ufeff/, '');

const DROPPED = {
  line: { droppedLine: 'longer than 8 MiB' },
  document: { droppedDocument: 'longer than 64 MiB' },
};

type Counts = Pick<JsonLinesSummary, 'lines' | 'malformed' | 'unknown'>;

/** Maps a line or a document: an item, or a list of items. A blank line has no events. */
function mapValue(mapper: NativeMapper, line: Buffer, counts: Counts): StreamEvent[] {
  if (isBlank(line)) return [];
  // JSON is UTF-8. Decoding other bytes would change them.
  const value = isUtf8(line) ? parseJson(textOfJson(line)) : undefined;
  const items = isList(value) ? value : [objectIn(value)];
  return items.flatMap((item) => {
    counts.lines += 1;
    if (item) return mapItem(mapper, item, counts);
    counts.malformed += 1;
    return [{ type: 'raw', native: textOf(line) }];
  });
}

const isList = (value: JsonValue | undefined): value is JsonObject[] =>
  Array.isArray(value) && value.length > 0 && value.every(isJsonObject);

function mapItem(mapper: NativeMapper, item: JsonObject, counts: Counts): StreamEvent[] {
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
