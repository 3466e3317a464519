import type { Aim, Column, Report, Row, Table } from './benchmark.ts';

/** One benchmark as a section of Markdown. `machine` and `command`: where and how it was measured. */
export function renderSection(
  name: string,
  { machine, command, report }: { machine: string; command: string; report: Report },
): string {
  return [
    `## ${name}`,
    report.method,
    `\`${command}\` on ${machine}`,
    ...report.tables.map(renderTable),
    ...(report.aims.length > 0 ? [report.aims.map(renderAim).join('\n')] : []),
    ...(report.notes.length > 0 ? [report.notes.map((note) => `- ${note}`).join('\n')] : []),
  ].join('\n\n');
}

/** Replaces the section of the same name, or adds it in the position that `order` gives. */
export function replaceSection(
  text: string,
  { name, section, order }: { name: string; section: string; order: readonly string[] },
): string {
  const [head = '', ...kept] = text.split(/^(?=## )/m);
  const sections = new Map(kept.map((old) => [/^## (.*)$/m.exec(old)?.[1], old.trim()]));
  sections.set(name, section);
  return `${[head.trim(), ...order.flatMap((each) => sections.get(each) ?? [])].join('\n\n')}\n`;
}

function renderTable({ caption, columns, rows }: Table): string {
  const header = ['', ...columns.map(({ name, unit }) => `${name}, ${unit}`), ''];
  const anyCited = rows.some(({ origin }) => origin === 'cited');
  const lines = [
    header,
    ['---', ...columns.map(() => '---:'), '---'],
    ...rows.map((row) => [row.subject, ...cells(row, columns), originOf(row)]),
  ].map((line) => (anyCited ? line : line.slice(0, -1)));
  return [`**${caption}**`, '', ...lines.map((line) => `| ${line.map(escapeCell).join(' | ')} |`)].join('\n');
}

function cells({ values }: Row, columns: readonly Column[]): string[] {
  return columns.map(({ digits }, index) => {
    const value = values[index];
    if (value === undefined) return '–';
    return typeof value === 'string' ? value : value.toFixed(digits);
  });
}

/** A `|` ends a cell, even inside code. */
function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function originOf({ origin }: Row): string {
  return origin === 'cited' ? 'cited, not measured here' : 'measured';
}

function renderAim({ what, measured, below, unit, digits }: Aim): string {
  const met = measured < below ? 'met' : '**missed**';
  return `- Aim: ${what} below ${below} ${unit}. Measured ${measured.toFixed(digits)} ${unit}: ${met}.`;
}
