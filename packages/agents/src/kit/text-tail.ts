import { stripVTControlCharacters } from 'node:util';

/** How much of what a program printed becomes an event, in bytes. The attempt's files have all of it. */
export const EVENT_TEXT_BYTES = 16 * 1024;

/** The last `maxBytes` of a text in UTF-8, with whole code points, without terminal control sequences, trimmed. */
export function textTail(text: string, maxBytes: number): string {
  const plain = stripVTControlCharacters(text).trim();
  const bytes = Buffer.from(plain);
  if (bytes.length <= maxBytes) return plain;
  let start = bytes.length - maxBytes;
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}
