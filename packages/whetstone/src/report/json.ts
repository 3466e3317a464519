import type { CaseRow } from '../record/row.ts';
import type { Summary } from './summary.ts';

/** What a terminal could act on, or a reader be misled by, and JSON itself leaves as it is. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029]|\p{Bidi_Control}/gu;

/**
 * JSON, indented, with a newline at the end. Nothing is left out or changed: control characters and direction
 * overrides are escaped (`\u009b`), so that the text is safe to print.
 */
export function escapedJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return `${json.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

/** `{ "summary": …, "cases": [row, …] }`, escaped as `escapedJson` does. */
export function renderJson(summary: Summary, rows: readonly CaseRow[]): string {
  return escapedJson({ summary, cases: rows });
}
