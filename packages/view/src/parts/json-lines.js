/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */

/** More than anybody reads, and few enough to draw. */
const LINES_SHOWN = 1000;

/**
 * The objects of a JSON lines file; of many, the first and the last. Cut or damaged lines are left out. Anybody may have
 * written the file, so a field may have any value.
 * @param {CaseFile} file
 * @returns {{ values: Record<string, unknown>[], hidden: number }}
 */
export function jsonLines({ head, tail }) {
  const lines = [...head.split('\n'), ...tail.split('\n')].filter((line) => line !== '');
  const hidden = Math.max(0, lines.length - LINES_SHOWN);
  const shown = hidden === 0 ? lines : [...lines.slice(0, LINES_SHOWN / 2), ...lines.slice(-LINES_SHOWN / 2)];
  return { values: shown.flatMap(parsed), hidden };
}

/** @param {string} line */
function parsed(line) {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value] : [];
  } catch {
    return [];
  }
}

/**
 * Any value as text: a string unchanged, an absent value as an empty string.
 * @param {unknown} value
 */
export function asText(value) {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return '(nested too deeply to show)';
  }
}

/**
 * Like `asText`, but an object has one line per field.
 * @param {unknown} value
 */
export function asLines(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return asText(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}: ${asText(inner)}`)
    .join('\n');
}

/**
 * @param {unknown} value
 * @returns {number | null}
 */
export const asNumber = (value) => (typeof value === 'number' ? value : null);

/**
 * A field of any value; `undefined` when the value has no such field.
 * @param {unknown} value
 * @param {string} name
 * @returns {unknown}
 */
export const field = (value, name) =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
