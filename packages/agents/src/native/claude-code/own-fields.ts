import type { JsonObject } from '@whetstone/events';

const TEXT_LIMIT = 200;

/** The named fields of an item that are a number, a boolean or a short text, under the agent's own names. */
export function ownFields(item: JsonObject, names: readonly string[]): JsonObject {
  const fields: JsonObject = {};
  for (const name of names) {
    const value = item[name];
    const isShort = typeof value === 'string' && value.length <= TEXT_LIMIT;
    if (isShort || typeof value === 'number' || typeof value === 'boolean') fields[name] = value;
  }
  return fields;
}
