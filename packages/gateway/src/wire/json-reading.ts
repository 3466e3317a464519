import { messageOf } from '@whetstone/errors';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@whetstone/events';
import { RequestError } from './request-error.ts';

// Reads JSON that anybody may have written. A value of another type than expected reads as empty.

export const stringAt = (object: JsonObject, key: string): string => {
  const value = object[key];
  return typeof value === 'string' ? value : '';
};

export const objectAt = (object: JsonObject, key: string): JsonObject => {
  const value = object[key];
  return isJsonObject(value) ? value : {};
};

/** The objects in a list; skips anything else in it. */
export const objectsIn = (list: JsonValue | undefined): JsonObject[] =>
  Array.isArray(list) ? list.filter(isJsonObject) : [];

export const objectsAt = (object: JsonObject, key: string): JsonObject[] => objectsIn(object[key]);

/** The texts of a content field: the string, or the `text` of each part in a list. Empty ones are left out. */
export const contentTexts = (content: JsonValue | undefined): string[] =>
  (typeof content === 'string' ? [content] : objectsIn(content).map((part) => stringAt(part, 'text'))).filter(
    (text) => text !== '',
  );

export const contentText = (content: JsonValue | undefined): string => contentTexts(content).join('\n');

export const isSystem = (message: JsonObject): boolean =>
  ['system', 'developer'].includes(stringAt(message, 'role'));

/** The contents of the messages at `key` that are part of the system prompt. */
export const systemContents = (raw: JsonObject, key: string): (JsonValue | undefined)[] =>
  objectsAt(raw, key)
    .filter(isSystem)
    .map((message) => message.content);

/** Joins the texts that are not empty with newlines. */
export const joinText = (...texts: string[]): string => texts.filter((text) => text !== '').join('\n');

/** Models sometimes send broken argument JSON, and agents send it back. As history it is not a reason to refuse. */
export function parseArguments(text: JsonValue | undefined): JsonObject {
  const value = typeof text === 'string' ? parseJson(text) : undefined;
  return isJsonObject(value) ? value : {};
}

/** The text at `key`; `undefined` when it is empty or missing. */
export const textAt = (object: JsonObject, key: string): string | undefined =>
  stringAt(object, key) || undefined;

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
