import type { CaseRow } from '../record/row.ts';
import type { Summary } from './summary.ts';

/** Characters that a terminal acts on or that mislead a reader, and that JSON does not escape itself. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029]|\p{Bidi_Control}/gu;

/** Indented JSON with a newline at the end, control characters and direction overrides escaped: safe to print. */
export function escapedJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return `${json.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

/** `{ "summary": …, "cases": [row, …] }`, escaped as `escapedJson` does. */
export function renderJson(summary: Summary, rows: readonly CaseRow[]): string {
  return escapedJson({ summary, cases: rows });
}
