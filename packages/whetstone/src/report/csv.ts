import { type CaseRow, caseRowSchema } from '../record/row.ts';
import { plainText } from './sanitize.ts';

const COLUMNS = caseRowSchema.keyof().options;

/**
 * One line per case, RFC 4180 (CRLF, quotes doubled), one column per field of a row under the field's name. What is
 * unknown is empty; lists are JSON. Text is stripped of control characters, and text that a spreadsheet would run as a
 * formula (it starts with `=`, `+`, `-`, `@`, a tab or a newline) gets an apostrophe in front. Numbers stay as they
 * are.
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
