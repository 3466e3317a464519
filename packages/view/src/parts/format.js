/** Numbers, in the same format as in every other report. */

/** Shown in place of an unknown number. */
export const UNKNOWN = '–';

/**
 * A rate as a percentage without `%`. Only exact rates are shown as 0 or 100.
 * @param {number} rate
 */
export function percentNumber(rate) {
  const rounded = Math.round(rate * 100);
  if (rounded === 0 && rate > 1e-9) return '<1';
  if (rounded === 100 && rate < 1 - 1e-9) return '>99';
  return String(rounded);
}

/**
 * `67 % [22, 94]`.
 * @param {number | null} rate
 * @param {{ low: number, high: number } | null} interval
 */
export function rateWithInterval(rate, interval) {
  if (rate === null) return UNKNOWN;
  const text = `${percentNumber(rate)} %`;
  return interval ? `${text} [${percentNumber(interval.low)}, ${percentNumber(interval.high)}]` : text;
}

/**
 * A difference of rates in percentage points, with its sign and without the unit: `+33`, `−0.4`, `0`.
 * @param {number} difference
 */
export function points(difference) {
  const value = Math.abs(difference * 100);
  if (value < 1e-7) return '0';
  const sign = difference < 0 ? '−' : '+';
  return sign + (value < 1 ? value.toPrecision(1) : String(Math.round(value)));
}

/**
 * `−40 … +100 pp`.
 * @param {number} low
 * @param {number} high
 * @param {'pp' | '%'} [unit]
 */
export function pointsRange(low, high, unit = 'pp') {
  return `${points(low)} … ${points(high)} ${unit}`;
}

/** @param {number | null} value */
export function seconds(value) {
  if (value === null) return UNKNOWN;
  if (value < 9.95) return `${value.toFixed(1)} s`;
  const whole = Math.round(value);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${twoDigits(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${twoDigits(Math.floor((whole % 3600) / 60))} m`;
}

/**
 * How long a call took: `36 ms`, `4.0 s`.
 * @param {number | null} value Milliseconds.
 */
export function callTime(value) {
  return value !== null && value < 1000
    ? `${Math.round(value)} ms`
    : seconds(value === null ? null : value / 1000);
}

/** @param {number} value */
const twoDigits = (value) => String(value).padStart(2, '0');

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/**
 * A sum of tokens; `≥` when some cases are unknown.
 * @param {number | null} total
 */
export function tokens(total, unknown = 0) {
  if (total === null) return UNKNOWN;
  return (unknown > 0 ? '≥' : '') + compact.format(total);
}

/**
 * A sum of US dollars; `≥` when some cases are unknown.
 * @param {number | null} total
 */
export function dollars(total, unknown = 0) {
  if (total === null) return UNKNOWN;
  const amount = total > 0 && total < 0.01 ? total.toPrecision(2) : total.toFixed(2);
  return `${unknown > 0 ? '≥' : ''}$${amount}`;
}

/**
 * `p = 0.031`, `p < 0.001`.
 * @param {number} value
 */
export function pValue(value) {
  return value < 0.001 ? 'p < 0.001' : `p = ${Number(value.toPrecision(2))}`;
}

/**
 * `1 task`, `3 tasks`; with thousands separated.
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** @param {number} count */
export function bytes(count) {
  if (count < 1024) return counted(count, 'byte');
  const unit = count < 1024 ** 2 ? 'KiB' : count < 1024 ** 3 ? 'MiB' : 'GiB';
  const size = count / { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }[unit];
  return `${size.toFixed(1)} ${unit}`;
}
