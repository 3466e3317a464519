import { type CaseRow, caseRowSchema } from '../record/row.ts';
import { plainText } from './sanitize.ts';

const COLUMNS = caseRowSchema.keyof().options;

/**
 * One line per case (RFC 4180, CRLF), one column per field of a row. Unknown is empty; lists are JSON. Text has no
 * control characters, and text that a spreadsheet would run as a formula gets an apostrophe in front.
 */
export function renderCsv(rows: readonly CaseRow[]): string {
  return [COLUMNS, ...rows.map((row) => COLUMNS.map((column) => row[column]))]
    .map((fields) => `${fields.map(csvField).join(',')}\r\n`)
    .join('');
}

function csvField(value: CaseRow[keyof CaseRow]): string {
  if (value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = plainText(typeof value === 'string' ? value : JSON.stringify(value));
  const inert = /^[=+\-@\t\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
