import type { JsonObject } from '@whetstone/events';
import { isRefusal } from '../rate/retry-after.ts';
import { objectAt, objectsAt, stringAt } from './json-reading.ts';

/** What providers call a refusal for load in an answer that began with status 200. */
const overloads = new Set([
  'overloaded',
  'overloaded_error',
  'rate_limit_error',
  'rate_limit_exceeded',
  'server_is_overloaded',
  'slow_down',
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
]);

/**
 * The error in an answer or in an event of a stream, if there is one: the `error` of Anthropic, Chat Completions and
 * Gemini, the failed response or the error event of OpenAI Responses, the error of a choice.
 */
export const errorIn = (data: JsonObject): JsonObject | undefined =>
  [
    objectAt(data, 'error'),
    objectAt(objectAt(data, 'response'), 'error'),
    ...objectsAt(data, 'choices').map((choice) => objectAt(choice, 'error')),
    ...(stringAt(data, 'type') === 'error' ? [data] : []),
  ].find((error) => Object.keys(error).length > 0);

/** Whether an error says that the provider gets too many requests. */
export const saysOverload = (error: JsonObject): boolean =>
  (typeof error.code === 'number' && isRefusal(error.code)) ||
  ['type', 'code', 'status'].some((field) => overloads.has(stringAt(error, field)));
