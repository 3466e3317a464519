import type { Usage } from '@whetstone/events';
import type { LedgerLine } from '@whetstone/gateway';
import type { CallTotals, ModelTotals } from '../gateway/call-totals.ts';
import { counted, dollars, seconds } from '../report/format.ts';
import { oneLine } from '../report/sanitize.ts';
import { type Colors, isInteractive, terminalColors, terminalWidth } from './terminal-features.ts';

export type SessionTotals = CallTotals & { wall_ms: number };

/** Shows the calls of a gateway as they end. */
export type CallDisplay = {
  show(line: LedgerLine): void;
  stop(): void;
  totals(totals: SessionTotals): void;
};

/** JSON lines; on a terminal a table of the latest calls that is redrawn; elsewhere one line per call. */
export async function createCallDisplay(stream: NodeJS.WriteStream, json: boolean): Promise<CallDisplay> {
  if (json) {
    const write = (value: unknown): void => void stream.write(`${JSON.stringify(value)}\n`);
    return { show: write, stop() {}, totals: write };
  }
  const colors = terminalColors(stream);
  const rows = isInteractive(stream) ? await liveRows(stream, colors) : plainRows(stream, colors);
  return { ...rows, totals: (totals) => void stream.write(totalsText(totals)) };
}

type Rows = Omit<CallDisplay, 'totals'>;

function plainRows(stream: NodeJS.WriteStream, colors: Colors): Rows {
  let isFirst = true;
  return {
    show(line) {
      if (isFirst) stream.write(`${headerRow(colors)}\n`);
      isFirst = false;
      stream.write(`${callRow(line, colors)}\n`);
    },
    stop() {},
  };
}

/** Lines of the screen that are not calls: the header, the totals, and the introduction. */
const OTHER_LINES = 8;

async function liveRows(stream: NodeJS.WriteStream, colors: Colors): Promise<Rows> {
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(stream);
  const rows: LedgerLine[] = [];
  let calls = 0;
  const draw = (): void => {
    const width = terminalWidth(stream);
    rows.splice(0, rows.length - Math.max(1, stream.rows - OTHER_LINES));
    const shown = rows.map((line) => callRow(line, colors, width));
    update([headerRow(colors, width), ...shown, '', colors.dim(counted(calls, 'call'))].join('\n'));
  };
  return {
    show(line) {
      rows.push(line);
      if (!line.flags.includes('auxiliary')) calls += 1;
      draw();
    },
    stop() {
      update.done();
    },
  };
}

type Column = { title: string; width: number; align?: 'right'; cell: (line: LedgerLine) => string };

const columns: readonly Column[] = [
  { title: 'time', width: 8, cell: (line) => new Date(line.at).toTimeString().slice(0, 8) },
  { title: 'model', width: 24, cell: modelCell },
  { title: 'in', width: 8, align: 'right', cell: (line) => tokenCell(line.usage, 'inputTokens') },
  { title: 'cached', width: 8, align: 'right', cell: (line) => tokenCell(line.usage, 'cacheReadTokens') },
  { title: 'out', width: 7, align: 'right', cell: (line) => tokenCell(line.usage, 'outputTokens') },
  { title: 'cost', width: 8, align: 'right', cell: costCell },
  { title: 'status', width: 6, align: 'right', cell: (line) => String(line.status ?? '–') },
  { title: 'first', width: 8, align: 'right', cell: (line) => duration(line.first_byte_ms) },
  { title: 'total', width: 8, align: 'right', cell: (line) => duration(line.total_ms) },
  { title: 'notes', width: 0, cell: notesCell },
];

const headerRow = (colors: Colors, width?: number): string =>
  colors.dim(layOut((column) => column.title, width));

function callRow(line: LedgerLine, colors: Colors, width?: number): string {
  const row = layOut((column) => column.cell(line), width);
  if (line.flags.includes('auxiliary')) return colors.dim(row);
  return line.outcome === 'ok' ? row : colors.red(row);
}

/** Two spaces between columns. A longer text moves the rest; a row is cut only at a terminal's width. */
function layOut(text: (column: Column) => string, width?: number): string {
  const cells = columns.map((column) => {
    const cell = text(column);
    return column.align === 'right' ? cell.padStart(column.width) : cell.padEnd(column.width);
  });
  const row = cells.join('  ').trimEnd();
  return width === undefined ? row : oneLineOf(row, width);
}

/** Cuts a row but keeps the spaces between its columns. */
const oneLineOf = (row: string, width: number): string =>
  row.length <= width ? row : `${row.slice(0, width - 1)}…`;

function modelCell({ model_asked: asked, model_answered: answered, path }: LedgerLine): string {
  const names = [...new Set([asked, answered])].filter((name) => name !== null);
  return oneLine(names.length === 0 ? path : names.join(' → '), 80);
}

function tokenCell(usage: Usage | null, bucket: keyof Usage): string {
  return usage === null ? '–' : (usage[bucket] ?? 0).toLocaleString('en-US');
}

function costCell({ usage, flags, cost_usd: cost }: LedgerLine): string {
  if (cost !== null) return dollars(cost);
  return usage === null && !flags.includes('unmetered') ? '–' : 'unknown';
}

function duration(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms / 1000);
}

function notesCell(line: LedgerLine): string {
  const notes = [
    ...line.flags,
    ...(line.queued_ms >= 1 ? [`queued ${duration(line.queued_ms)}`] : []),
    ...(line.retries > 0 ? [`retry ${line.retries}`] : []),
    ...line.faults.map((fault) => `fault ${fault}`),
    ...line.stripped_tools.map((tool) => `without ${oneLine(tool, 40)}`),
    ...(line.outcome === 'client-closed' ? ['client closed'] : []),
    ...(line.error === undefined ? [] : [oneLine(line.error, 120)]),
  ];
  return notes.join(', ');
}

function totalsText(totals: SessionTotals): string {
  const { calls, failed_calls: failed, auxiliary_calls: auxiliary, unmetered_calls: unmetered } = totals;
  const { models, wall_ms: wall } = totals;
  const head = [
    `${counted(calls, 'call')} in ${seconds(wall / 1000)}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(auxiliary > 0 ? [`${auxiliary} auxiliary`] : []),
    ...(unmetered > 0 ? [`${unmetered} unmetered`] : []),
  ].join(', ');
  const sums = models.length > 1 ? [...models, { ...totals, model: 'together' }] : models;
  return `\n${head}\n${sums.map((each) => `${modelTotals(each)}\n`).join('')}`;
}

function modelTotals({
  model,
  calls,
  usage,
  cost_usd: cost,
  calls_without_cost: unpriced,
}: ModelTotals): string {
  const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens } = usage;
  const tokens = [
    [inputTokens, 'in'],
    [cacheReadTokens, 'from cache'],
    [cacheWriteTokens, 'to cache'],
    [outputTokens, 'out'],
  ] as const;
  const buckets = tokens.map(([count, name]) => `${count.toLocaleString('en-US')} ${name}`).join(', ');
  const price = cost === null ? 'cost unknown' : dollars(cost, unpriced);
  return `  ${oneLine(model, 80)}: ${counted(calls, 'call')}, tokens ${buckets}, ${price}`;
}
