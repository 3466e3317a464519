import { assertString } from './assert.js';

/**
 * Reads comma-separated values (RFC 4180): quoted fields may hold commas, line breaks and doubled quotes. Returns rows
 * of strings; a last empty line is not a row.
 */
export function parseCsv(text) {
  assertString(text, 'text');
  const rows = [];
  let row = [];
  let field = '';
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (quoted) {
      if (character !== '"') {
        field += character;
      } else if (text[index + 1] === '"') {
        field += '"';
        index += 1;
      } else {
        quoted = false;
      }
    } else if (character === '"' && field === '') {
      quoted = true;
    } else if (character === ',') {
      row.push(field);
      field = '';
    } else if (character === '\n' || character === '\r') {
      if (character === '\r' && text[index + 1] === '\n') index += 1;
      row.push(field);
      rows.push(row);
      row = [];
      field = '';
    } else {
      field += character;
    }
  }
  if (quoted) throw new RangeError('a quoted field is not closed');
  if (field !== '' || row.length > 0) rows.push([...row, field]);
  return rows;
}
