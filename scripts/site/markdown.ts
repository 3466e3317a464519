/** Text as Markdown that shows exactly that text: the site would take `<name>` for an element and `{{` for code. */
export const proseText = (text: string): string =>
  text
    .replaceAll(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? character)
    .replaceAll(/[|*_\\[\]]/g, '\\$&')
    .replaceAll('{{', '&#123;&#123;');

/** Text as code in a cell of a table. */
export const codeCell = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

/** The lines of a table whose cells are Markdown; none without rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
