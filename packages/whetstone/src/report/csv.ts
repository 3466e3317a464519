import { type CaseRow, caseRowSchema } from '../record/row.ts';
import { plainText } from './sanitize.ts';

const COLUMNS = caseRowSchema.keyof().options;

/**
 * One line per case (RFC 4180, CRLF), one column per field of a row; a last one, `reproducibility`, where a case worked on a
 * server of the user. Unknown is empty; lists are JSON. Text has no control characters, and text that a spreadsheet would
 * run as a formula gets an apostrophe in front.
 */
export function renderCsv(rows: readonly CaseRow[]): string {
  const isExternal = rows.some(({ reproducibility }) => reproducibility !== undefined);
  const columns = [...COLUMNS, ...(isExternal ? (['reproducibility'] as const) : [])];
  return csvLines([columns, ...rows.map((row) => columns.map((column) => row[column]))], '\r\n');
}

/** A value of a table. `null`: unknown. */
export type CsvValue = string | number | boolean | object | null | undefined;

export const csvLines = (lines: readonly (readonly CsvValue[])[], end: string): string =>
  lines.map((fields) => `${fields.map(csvField).join(',')}${end}`).join('');

function csvField(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = plainText(typeof value === 'string' ? value : JSON.stringify(value));
  // Spreadsheets in East Asian languages also read the full-width forms.
  const inert = /^[=+\-@\t\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
