import { assertCount, assertString } from './assert.js';

const UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];

/**
 * Writes milliseconds as a short text with at most two units: 90000 → '1m 30s'. Units that are zero are left out.
 */
export function formatDuration(milliseconds) {
  assertCount(milliseconds, 'milliseconds');
  const parts = [];
  let rest = milliseconds;
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join(' ') || '0ms';
}

/**
 * Reads what `formatDuration` writes, and any list of amounts with units: '1h 5m' → 3900000. Throws a RangeError for
 * anything else.
 */
export function parseDuration(text) {
  assertString(text, 'text');
  const sizes = new Map(UNITS);
  let total = 0;
  for (const part of text.trim().split(/\s+/)) {
    const match = /^(\d+)(h|m|s|ms)$/.exec(part);
    if (!match) throw new RangeError(`'${text}' is not a duration`);
    total += Number(match[1]) * sizes.get(match[2]);
  }
  return total;
}
