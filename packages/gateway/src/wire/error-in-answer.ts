import type { JsonObject } from '@whetstone/events';
import { isRefusal } from '../rate/retry-after.ts';
import { objectAt, objectsAt, stringAt } from './json-reading.ts';

/** What providers call a limit of the caller, in an answer that began with status 200. */
const limits = new Set(['rate_limit_error', 'rate_limit_exceeded', 'slow_down', 'RESOURCE_EXHAUSTED']);

/** What they call a load that is too much for them. */
const overloads = new Set(['overloaded', 'overloaded_error', 'server_is_overloaded', 'UNAVAILABLE']);

/** What they call a failure of their own. */
const ownFailures = new Set(['api_error', 'server_error', 'internal_error', 'INTERNAL']);

/**
 * The error in an answer or in an event of a stream, if there is one: the `error` of Anthropic, Chat Completions and
 * Gemini, the failed response or the error event of OpenAI Responses, the error of a choice.
 */
export const errorInAnswer = (data: JsonObject): JsonObject | undefined =>
  [
    objectAt(data, 'error'),
    objectAt(objectAt(data, 'response'), 'error'),
    ...objectsAt(data, 'choices').map((choice) => objectAt(choice, 'error')),
    ...(stringAt(data, 'type') === 'error' ? [data] : []),
  ].find((error) => Object.keys(error).length > 0);

/** Whether an error says that the provider gets too many requests. */
export const saysOverload = (error: JsonObject): boolean =>
  (typeof error.code === 'number' && isRefusal(error.code)) || isOf(error, limits) || isOf(error, overloads);

/** What an error has to do with the provider and not with the call, as its status would say; `undefined`: nothing. */
export function failureKind(error: JsonObject): 'limit' | 'outage' | undefined {
  const status = typeof error.code === 'number' ? error.code : 0;
  if (status === 429 || isOf(error, limits) || isOf(error, unpaid)) return 'limit';
  return status >= 500 || isOf(error, overloads) || isOf(error, ownFailures) ? 'outage' : undefined;
}

const unpaid = new Set(['insufficient_quota']);

const isOf = (error: JsonObject, names: ReadonlySet<string>): boolean =>
  ['type', 'code', 'status'].some((field) => names.has(stringAt(error, field)));
