import type { StreamEvent } from '@whetstone/events';
import type { NativeMapper } from './native-mapper.ts';
import { type JsonLinesReader, mapLine } from './read-json-lines.ts';

const DOCUMENT_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * A transcript that is one JSON document, however it is broken into lines: one item for the mapper. Never throws; what
 * is no JSON object becomes a `raw` event that holds it whole. Of a document over 64 MiB only the size is told.
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
