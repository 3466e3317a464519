import type { JsonObject, JsonValue } from '@whetstone/events';

// Reading JSON that somebody else wrote: what is not of the wanted shape is as good as absent.

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectAt(value: JsonObject, key: string): JsonObject {
  const child = value[key];
  return isJsonObject(child) ? child : {};
}

export function objectsAt(value: JsonObject, key: string): JsonObject[] {
  const child = value[key];
  return Array.isArray(child) ? child.filter(isJsonObject) : [];
}

/** Text that is not empty. */
export function textAt(value: JsonObject, key: string): string | undefined {
  const child = value[key];
  return typeof child === 'string' && child !== '' ? child : undefined;
}

export function countAt(value: JsonObject, key: string): number | undefined {
  const child = value[key];
  return Number.isSafeInteger(child) && (child as number) >= 0 ? (child as number) : undefined;
}

/** Arguments of a call are JSON in a text; a text that is none stays one. */
export function parsedArguments(value: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string') return value ?? {};
  if (value.trim() === '') return {};
  return parseJson(value) ?? value;
}

/** Deeper nesting than any answer has; more of it exhausts the stack of whoever walks it. */
const DEEPEST = 200;

/** `undefined` for what is no JSON, or is nested too deep. */
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
