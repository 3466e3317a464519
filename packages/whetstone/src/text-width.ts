import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Western text, and what reports draw with: one column per character, as string-width counts them. */
const ONE_COLUMN_EACH =
  /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2200-\u22ff\u2500-\u257f]*$/;

/** Columns that a text takes on a terminal. Most texts need no tables of Unicode, which take 30 ms to load. */
export function textWidth(text: string): number {
  if (ONE_COLUMN_EACH.test(text)) return text.length;
  const { default: stringWidth } = require('string-width') as typeof import('string-width');
  return stringWidth(text);
}

/** Lines of at most `width` columns; a longer word is broken. */
export function wrappedLines(text: string, width: number): string[] {
  if (text === text.trim() && ONE_COLUMN_EACH.test(text)) {
    if (text.length <= width) return [text];
    const words = text.split(' ');
    if (!/ {2}|[^\S ]/.test(text) && words.every(({ length }) => length <= width))
      return filled(words, width);
  }
  const { default: wrapAnsi } = require('wrap-ansi') as typeof import('wrap-ansi');
  return wrapAnsi(text, width, { hard: true }).split('\n');
}

function filled(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
