import type { JsonObject, JsonValue } from '@whetstone/events';
import { objectIn, objectsIn } from '../kit/fields.ts';

// Reads JSON from other programs. A value of the wrong shape counts as absent.

export const objectAt = (value: JsonObject, key: string): JsonObject => objectIn(value[key]) ?? {};

export const objectsAt = (value: JsonObject, key: string): JsonObject[] => objectsIn(value[key]);

/** Text that is not empty. */
export function textAt(value: JsonObject, key: string): string | undefined {
  const child = value[key];
  return typeof child === 'string' && child !== '' ? child : undefined;
}

export function countAt(value: JsonObject, key: string): number | undefined {
  const child = value[key];
  return Number.isSafeInteger(child) && (child as number) >= 0 ? (child as number) : undefined;
}

/** The arguments of a call are JSON inside of a text. A text that is not JSON stays text. */
export function parsedArguments(value: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string') return value ?? {};
  if (value.trim() === '') return {};
  const parsed = parseJson(value);
  return parsed === undefined ? value : parsed;
}

/** Deeper than any real answer. A deeper value would exhaust the stack of a recursive reader. */
const DEEPEST = 200;

/** `undefined` for text that is not JSON, and for JSON that is nested too deep. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return text.length < DEEPEST || isShallow(value, DEEPEST) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((child) => isShallow(child, levels - 1));
}
