import { textWidth, wrappedLines } from '../text-width.ts';

/** `width` in columns of a terminal, of which a wide character or an emoji takes two. */
export type Column = { width: number; align?: 'left' | 'right' };

/**
 * Lines of a table without borders, two spaces between columns. Cells wrap within their columns, and a longer word is
 * broken; nothing is cut off. Cells are plain text; colour the lines.
 */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  indent = '',
): string[] {
  return rows.flatMap((row) => {
    const cells = columns.map(({ width }, i) => wrappedLines(row[i] ?? '', width));
    const height = Math.max(...cells.map((lines) => lines.length));
    return Array.from({ length: height }, (_, i) => {
      const line = columns.map((column, at) => padded(cells[at]?.[i] ?? '', column)).join('  ');
      return (indent + line).trimEnd();
    });
  });
}

/** A paragraph within `width` columns, its lines indented. */
export function paragraphLines(text: string, width: number, indent = ''): string[] {
  return tableLines([{ width: Math.max(10, width - indent.length) }], [[text]], indent);
}

function padded(text: string, { width, align }: Column): string {
  const space = ' '.repeat(Math.max(0, width - textWidth(text)));
  return align === 'right' ? space + text : text + space;
}
