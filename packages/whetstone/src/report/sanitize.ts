import { stripVTControlCharacters } from 'node:util';

const ESCAPE = String.fromCharCode(0x1b);
const BELL = String.fromCharCode(0x07);
const STRING_TERMINATOR = String.fromCharCode(0x9c);

/**
 * OSC, DCS, APC, PM and SOS strings up to their terminator, or to the end of the line: titles, links, clipboard writes.
 */
const CONTROL_STRING = new RegExp(
  `(?:${ESCAPE}[P\\]X^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\n${BELL}${ESCAPE}${STRING_TERMINATOR}]*(?:${BELL}|${ESCAPE}\\\\|${STRING_TERMINATOR})?`,
  'g',
);

/** Characters that change the reading order of text or hide text in it. */
const INVISIBLE = /\p{Bidi_Control}|[\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Text of unknown origin as plain text, for a terminal or a file that may be shown on one. Removes escape sequences,
 * control characters except newline and tab, direction overrides and lone surrogates. Carriage returns become newlines.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text.replace(CONTROL_STRING, ''))
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/\p{Cc}/gu, (control) => (control === '\n' || control === '\t' ? control : ''))
    .replace(INVISIBLE, '')
    .toWellFormed();
}

/** `plainText` in one line of at most `limit` code points. An ellipsis marks a cut. */
export function oneLine(text: string, limit = 1000): string {
  // Cut before cleaning, so that the work is bounded. The factor leaves room for what cleaning removes.
  const line = plainText(text.slice(0, limit * 8))
    .replace(/\s+/g, ' ')
    .trim();
  const points = Array.from(line);
  const isCut = points.length > limit || text.length > limit * 8;
  return isCut ? `${points.slice(0, limit - 1).join('')}…` : line;
}
