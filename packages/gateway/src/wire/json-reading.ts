import { messageOf } from '@whetstone/errors';
import type { JsonObject, JsonValue } from '@whetstone/events';
import { RequestError } from './request-error.ts';

/** Reads JSON that anybody may have written. A value of another type than expected reads as empty. */
export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const stringAt = (object: JsonObject, key: string): string => {
  const value = object[key];
  return typeof value === 'string' ? value : '';
};

export const objectAt = (object: JsonObject, key: string): JsonObject => {
  const value = object[key];
  return isJsonObject(value) ? value : {};
};

/** The objects in the list at `key`; skips anything else in it. */
export const objectsAt = (object: JsonObject, key: string): JsonObject[] => {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
};

/** The text of a content field: a string, or the `text` of each part in a list. */
export function contentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter(isJsonObject)
    .map((part) => stringAt(part, 'text'))
    .filter((text) => text !== '')
    .join('\n');
}

/** Joins the texts that are not empty with newlines. */
export const joinText = (...texts: string[]): string => texts.filter((text) => text !== '').join('\n');

/** Models sometimes send broken argument JSON, and agents send it back. As history it is not a reason to refuse. */
export function parseArguments(text: JsonValue | undefined): JsonObject {
  if (typeof text !== 'string') return {};
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The field of a neutral request with the schema of its structured output, if it has one. */
export const responseSchema = (schema: JsonValue | undefined): { responseSchema?: JsonObject } =>
  isJsonObject(schema) ? { responseSchema: schema } : {};

/** @throws RequestError 400 when the body is not a JSON object. */
export function parseJsonObject(body: Uint8Array): JsonObject {
  let value: JsonValue;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw new RequestError(400, `The request body is not valid JSON: ${messageOf(error)}`, { cause: error });
  }
  if (!isJsonObject(value)) throw new RequestError(400, 'The request body must be a JSON object.');
  return value;
}
