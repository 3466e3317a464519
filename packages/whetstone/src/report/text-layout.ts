import Table from 'cli-table3';

const BORDERLESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

export type Column = { width: number; align?: 'left' | 'right' };

/**
 * Lines of a table without borders, two spaces between columns. Cells wrap within their columns; nothing is cut off. Cells
 * are plain text; colour the lines.
 */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  indent = '',
): string[] {
  if (rows.length === 0) return [];
  const table = new Table({
    chars: BORDERLESS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colWidths: columns.map((column) => column.width),
    colAligns: columns.map((column) => column.align ?? 'left'),
    wordWrap: true,
  });
  for (const cells of rows) {
    table.push(columns.map(({ width }, i) => breakLongWords(cells[i] ?? '', width)));
  }
  return table
    .toString()
    .split('\n')
    .map((line) => (indent + line).trimEnd());
}

/** A paragraph within `width` columns, its lines indented. */
export function paragraphLines(text: string, width: number, indent = ''): string[] {
  return tableLines([{ width: Math.max(10, width - indent.length) }], [[text]], indent);
}

/** The table would cut a word that is longer than its line. A character that is not ASCII may take two columns. */
function breakLongWords(text: string, width: number): string {
  return text
    .split(' ')
    .map((word) => {
      const limit =
        /^[ -~]*$/.test(word) || Array.from(word).length * 2 <= width ? width : Math.floor(width / 2);
      const pieces = word.match(new RegExp(`.{1,${Math.max(1, limit)}}`, 'gu')) ?? [];
      return pieces.join(' ');
    })
    .join(' ');
}
