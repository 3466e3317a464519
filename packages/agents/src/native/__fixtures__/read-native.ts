import type { StreamEvent } from '@whetstone/events';
import type { NativeMapper } from '../../kit/native-mapper.ts';
import { type JsonLinesSummary, readDocument, readJsonLines } from '../../kit/read-json-lines.ts';

export type NativeReading = { events: StreamEvent[]; summary: JsonLinesSummary };

/** Reads a whole stream or document with a mapper, in chunks of any size. */
export function readNative(
  mapper: NativeMapper,
  bytes: Buffer,
  { form = 'lines', chunkBytes = 64 * 1024 }: { form?: 'lines' | 'document'; chunkBytes?: number } = {},
): NativeReading {
  const events: StreamEvent[] = [];
  const read = form === 'lines' ? readJsonLines : readDocument;
  const reader = read(mapper, (event) => events.push(event));
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    reader.push(bytes.subarray(start, start + chunkBytes));
  }
  return { events, summary: reader.end() };
}

/** A reading as a golden file: one event per line, with the summary as the last line. */
export const goldenText = ({ events, summary }: NativeReading): string =>
  [...events, { summary }].map((line) => `${JSON.stringify(line)}\n`).join('');
