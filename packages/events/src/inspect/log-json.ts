import { messageOf } from '@whetstone/errors';
import { logError } from './inspect-log-error.ts';

/** Parses JSON as Python writes it. `NaN` and the infinities, which JSON does not have, become null. */
export function parseLogJson(data: Buffer, entry: string | undefined): unknown {
  const text = data.toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    try {
      return JSON.parse(withoutConstants(text));
    } catch {
      throw logError('inspect-log-damaged', `The content is not JSON (${messageOf(error)}).`, entry, error);
    }
  }
}

function withoutConstants(text: string): string {
  const parts: string[] = [];
  let position = 0;
  while (position < text.length) {
    const quote = text.indexOf('"', position);
    const end = quote === -1 ? text.length : quote;
    parts.push(text.slice(position, end).replaceAll(/-?\b(?:NaN|Infinity)\b/g, 'null'));
    position = endOfString(text, end);
    parts.push(text.slice(end, position));
  }
  return parts.join('');
}

/** The position after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return Math.min(text.length, end + 1);
}
