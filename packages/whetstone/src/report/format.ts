import type { Interval } from '../stats/interval.ts';
import type { Estimate, Summary } from './summary.ts';

/** Shown in place of an unknown number. */
export const UNKNOWN = '–';

/** A rate as a percentage, without the percent sign. `0` and `100` mean exactly none and exactly all. */
export function percentNumber(rate: number): string {
  const rounded = Math.round(rate * 100);
  if (rounded === 0 && rate > 1e-9) return '<1';
  if (rounded === 100 && rate < 1 - 1e-9) return '>99';
  return String(rounded);
}

/** The mean of a metric over tasks: `67 % [22, 94]`, `$0.12`, `12.3K`, `1 m 04 s`. */
export function metricValue({ kind }: Summary['metric'], { value, interval, missing }: Estimate): string {
  if (kind === 'cost') return dollars(value, missing);
  if (kind === 'tokens') return tokens(value, missing);
  return kind === 'seconds' ? seconds(value) : rateWithInterval(value, interval);
}

/** `67 % [22, 94]`. */
export function rateWithInterval(rate: number | null, interval: Interval | null): string {
  if (rate === null) return UNKNOWN;
  const text = `${percentNumber(rate)} %`;
  return interval ? `${text} [${percentNumber(interval.low)}, ${percentNumber(interval.high)}]` : text;
}

/** What the cases without a result still allow: `50–100 %`. */
export function boundsText({ bounds, missing }: Estimate): string {
  return bounds === null || missing === 0
    ? UNKNOWN
    : `${percentNumber(bounds[0])}–${percentNumber(bounds[1])} %`;
}

/** A difference of rates in percentage points, with its sign and without the unit: `+33`, `−0.4`, `0`. */
export function points(difference: number): string {
  const value = Math.abs(difference * 100);
  if (value < 1e-7) return '0';
  const sign = difference < 0 ? '−' : '+';
  return sign + (value < 1 ? value.toPrecision(1) : String(Math.round(value)));
}

/** `−40 … +100 pp`. */
export function pointsRange(low: number, high: number, unit: 'pp' | '%' = 'pp'): string {
  return `${points(low)} … ${points(high)} ${unit}`;
}

export function seconds(value: number | null): string {
  if (value === null) return UNKNOWN;
  if (value < 9.95) return `${value.toFixed(1)} s`;
  const whole = Math.round(value);
  if (whole < 60) return `${whole} s`;
  const [big, small, units] =
    whole < 3600
      ? ([Math.floor(whole / 60), whole % 60, ['m', 's']] as const)
      : ([Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), ['h', 'm']] as const);
  return `${big} ${units[0]} ${String(small).padStart(2, '0')} ${units[1]}`;
}

/** Made with the first number: it takes 10 ms. */
let compact: Intl.NumberFormat | undefined;

/** A sum of tokens; `≥` when the tokens of some cases are unknown. */
export function tokens(total: number | null, unknown: number): string {
  if (total === null) return UNKNOWN;
  compact ??= new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
  return (unknown > 0 ? '≥' : '') + compact.format(total);
}

/** A sum of US dollars; `≥` when the cost of some cases is unknown. */
export function dollars(total: number | null, unknown = 0): string {
  if (total === null) return UNKNOWN;
  const amount = total > 0 && total < 0.01 ? total.toPrecision(2) : total.toFixed(2);
  return `${unknown > 0 ? '≥' : ''}$${amount}`;
}

/** `0.031`, `<0.001`. */
export function pNumber(value: number): string {
  return value < 0.001 ? '<0.001' : String(Number(value.toPrecision(2)));
}

/** `p = 0.031`, `p < 0.001`. */
export function pValue(value: number): string {
  return value < 0.001 ? 'p < 0.001' : `p = ${pNumber(value)}`;
}

/** `1 task`, `3 tasks`, `1,200 tasks`. */
export function counted(count: number, noun: string): string {
  // The tables of a language take longer to load than a command's whole output takes to write.
  const digits = Math.abs(count) < 1000 ? String(count) : count.toLocaleString('en-US');
  return `${digits} ${noun}${count === 1 ? '' : 's'}`;
}
