import type { StreamEvent } from '@whetstone/events';
import type { NativeMapper } from './native-mapper.ts';
import { type JsonLinesReader, mapLine } from './read-json-lines.ts';

const DOCUMENT_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * Reads a transcript that is one JSON document, with any line breaks, as one item. Never throws. Anything but a JSON
 * object becomes a `raw` event with all of it. For a document over 64 MiB, the event has only the size.
 */
export function readDocument(mapper: NativeMapper, emit: (event: StreamEvent) => void): JsonLinesReader {
  const counts = { lines: 0, malformed: 0, unknown: 0, tooLong: 0, isTruncated: false };
  let chunks: Buffer[] = [];
  let bytes = 0;

  return {
    push(chunk) {
      bytes += chunk.length;
      if (bytes > DOCUMENT_LIMIT_BYTES) chunks = [];
      else chunks.push(chunk);
    },
    end() {
      if (bytes > DOCUMENT_LIMIT_BYTES) {
        counts.lines = 1;
        counts.tooLong = 1;
        counts.isTruncated = true;
        emit({ type: 'raw', native: { droppedDocument: 'longer than 64 MiB' } });
      } else {
        for (const event of mapLine(mapper, Buffer.concat(chunks), counts)) emit(event);
      }
      return { ...mapper.summary(), ...counts };
    },
  };
}
