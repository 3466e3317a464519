import { oneLine } from './sanitize.ts';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Text of unknown origin as a line of Markdown that shows exactly that text, in a paragraph, list or table cell. */
export function markdownText(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_[\]|~#$]/g, '\\$&')
    .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replace(/:(?=\/\/)/g, '\\:')
    .replace(/\b(www)\./gi, '$1\\.')
    .replace(/^(?:[-+=]|\d+[.)])/, (start) => `${start.slice(0, -1)}\\${start.slice(-1)}`);
}

/** The same as a code span. Not for table cells, because a pipe ends a cell even inside a code span. */
export function markdownCode(text: string): string {
  const line = oneLine(text) || ' ';
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const space = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${space}${line}${space}${fence}`;
}

/** A link to a file beside the report. */
export function markdownLink(label: string, path: string): string {
  const target = path
    .split('/')
    .map((segment) => encodeURIComponent(segment).replace(/[()*]/g, percentEncoded))
    .join('/');
  return `[${markdownText(label)}](${target})`;
}

/** A table. Cells are Markdown already; the first `textColumns` columns are aligned left, the others right. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns: number,
): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (i < textColumns ? ':--' : '--:'))), ...rows.map(line)];
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
