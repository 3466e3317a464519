/**
 * Lays rows of cells out in columns of equal width, two spaces apart. Numbers are aligned to the right. The first row
 * is the header and gets a rule below it.
 */
export function table(rows) {
  if (!Array.isArray(rows) || rows.some((row) => !Array.isArray(row))) {
    throw new TypeError('rows must be an array of arrays');
  }
  if (rows.length === 0) return '';
  const cells = rows.map((row) => row.map(String));
  const columns = Math.max(...cells.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, index) =>
    Math.max(...cells.map((row) => (row[index] ?? '').length)),
  );
  const lines = cells.map((row) =>
    widths
      .map((width, index) => pad(row[index] ?? '', width))
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

function pad(cell, width) {
  return /^-?\d+(\.\d+)?$/.test(cell) ? cell.padStart(width) : cell.padEnd(width);
}
