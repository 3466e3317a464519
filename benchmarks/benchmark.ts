/** The result of a benchmark. */
export type Report = {
  /** What is measured and how, in a sentence or two. */
  method: string;
  tables: Table[];
  aims: Aim[];
  /** What was not measured and why, and the limits of the comparison. */
  notes: string[];
};

export type Table = {
  caption: string;
  columns: Column[];
  rows: Row[];
};

/** `digits`: after the decimal point. */
export type Column = { name: string; unit: string; digits: number };

export type Row = {
  subject: string;
  /** One per column; `undefined` where there is no figure. A string is shown unchanged. */
  values: readonly (number | string | undefined)[];
  /** `cited`: published elsewhere, measured on another machine. Default: measured in this run. */
  origin?: 'measured' | 'cited';
};

export type Aim = { what: string; measured: number; below: number; unit: string; digits: number };

export type Size = 'full' | 'quick';

/** `say` reports progress. `cases`, `heavy`, `kills`: how many, where a benchmark has them, instead of those of the size. */
export type Benchmark = (options: {
  size: Size;
  say: (line: string) => void;
  cases?: number;
  heavy?: number;
  kills?: number;
}) => Promise<Report>;

/** A column, and how it is computed from an item. */
export type ColumnOf<Item> = readonly [
  name: string,
  unit: string,
  digits: number,
  value: (item: Item) => Row['values'][number],
];

/** A table with a row per item, and behind them rows that are cited. */
export function tableOf<Item extends { subject: string }>(
  caption: string,
  items: readonly Item[],
  columns: readonly ColumnOf<Item>[],
  cited: readonly Omit<Row, 'origin'>[] = [],
): Table {
  const measured = items.map((item) => ({
    subject: item.subject,
    values: columns.map(([, , , value]) => value(item)),
  }));
  return {
    caption,
    columns: columns.map(([name, unit, digits]) => ({ name, unit, digits })),
    rows: [...measured, ...cited.map((row) => ({ ...row, origin: 'cited' as const }))],
  };
}

/** Memory that stays flat: the last of the `bytes` against the first. */
export function flatAim(what: string, bytes: readonly number[]): Aim {
  const [first = Number.NaN, last = Number.NaN] = [bytes[0], bytes.at(-1)];
  return { what, measured: last / first, below: FLAT, unit: '×', digits: 2 };
}

/** The factor below which memory counts as flat. */
export const FLAT = 1.25;

/** The middle of the values; with an even number of them, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** The value that `share` (0 to 1) of the values are not above; `NaN` of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export const MEBIBYTE = 1024 * 1024;
