const BEGINNING = /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----/g;
const END = /-----END [A-Z ]{0,20}PRIVATE KEY-----/g;
/** Characters between the two lines. */
const LONGEST_KEY = 8000;

/**
 * A text with `<secret>` for each private key in PEM form. One pattern for a whole key would look through the next 8000
 * characters for each beginning without an end.
 */
export function maskPrivateKeys(text: string): string {
  let masked = '';
  let kept = 0;
  let end = next(END, text, 0);
  for (let start = next(BEGINNING, text, 0); start !== null; ) {
    const from = start.index + start[0].length;
    if (end !== null && end.index < from) end = next(END, text, from);
    if (end === null) break;
    const isKey = end.index - from <= LONGEST_KEY;
    const after = end.index + end[0].length;
    if (isKey) masked += `${text.slice(kept, start.index)}<secret>`;
    if (isKey) kept = after;
    start = next(BEGINNING, text, isKey ? after : start.index + 1);
  }
  return masked + text.slice(kept);
}

function next(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}
