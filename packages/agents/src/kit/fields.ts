import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events/json';

// Readers for fields of native items, which may hold anything. A field that is missing or of another type is absent.

export const objectIn = (value: JsonValue | undefined): JsonObject | undefined =>
  isJsonObject(value) ? value : undefined;

export const objectsIn = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

export const textIn = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** A text that the item cannot do without. If it is missing, this throws, and the reader keeps the whole item. */
export function requiredText(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw new TypeError('A text was expected.');
  return value;
}

/** No model call uses as many tokens. A larger number counts something else. */
const TOKENS_LIMIT = 1e12;

/** A count; 0 for an invalid one. */
export const countIn = (value: JsonValue | undefined): number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < TOKENS_LIMIT
    ? (value as number)
    : 0;

/** A count of tokens: 0 for one that is not reported, `NaN` for an invalid one, which makes the usage unknown. */
export const tokensIn = (value: JsonValue | undefined): number =>
  value == null || value === 0 ? 0 : countIn(value) || Number.NaN;

/** The same, and `undefined` for a count that is not reported. */
export const reportedTokens = (value: JsonValue | undefined): number | undefined =>
  value == null ? undefined : tokensIn(value);

/** Dollars. Agents say 0 for a model whose price they do not know. */
export const costIn = (value: JsonValue | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;

/** The `at` of an event, from ISO 8601 or milliseconds since 1970. */
export function momentIn(value: JsonValue | undefined): { at?: string } {
  if (typeof value !== 'string' && typeof value !== 'number') return {};
  const time = new Date(value).getTime();
  // Other readers of ISO 8601 do not accept years with more than four digits.
  return time >= 0 && time < 253_402_300_800_000 ? { at: new Date(time).toISOString() } : {};
}
