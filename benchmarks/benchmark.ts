/** What a benchmark hands back: tables of figures, aims, and what a reader has to know to believe them. */
export type Report = {
  /** What is measured and how, in a sentence or two. */
  method: string;
  tables: Table[];
  aims: Aim[];
  /** What was not measured and why, and what limits the comparison. */
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
  /** One a column; `undefined` where there is nothing to measure or it was not said. A string is shown as it stands. */
  values: readonly (number | string | undefined)[];
  /** `cited` figures come from the issue: another machine, another day. Default: measured in this run. */
  origin?: 'measured' | 'cited';
};

export type Aim = { what: string; measured: number; below: number; unit: string; digits: number };

export type Size = 'full' | 'quick';

/** `say` tells whoever waits what is going on. */
export type Benchmark = (options: { size: Size; say: (line: string) => void }) => Promise<Report>;

/** The middle of the values; with an even number of them, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return (lower + upper) / 2;
}

export const MEBIBYTE = 1024 * 1024;
