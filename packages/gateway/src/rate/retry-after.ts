import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, parseJson } from '@whetstone/events';
import { objectAt, objectsAt, stringAt } from '../wire/json-reading.ts';

/** Statuses that mean that the provider gets too many requests; 529 is Anthropic's own. */
export const isRefusal = (status: number): boolean => status === 429 || status === 503 || status === 529;

/**
 * How long a provider asks clients to wait, in milliseconds: `retry-after-ms` (OpenAI), or `Retry-After` in seconds or
 * as a date (RFC 9110, section 10.2.3). `undefined` when it does not say.
 * @param now Unix time in milliseconds.
 */
export function retryAfterMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const exact = Number.parseFloat(String(headers['retry-after-ms'] ?? ''));
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The same from the body of an error: Google's `google.rpc.RetryInfo`, or a field `retry_after`, which is in seconds. */
export function retryAfterMsIn(body: string): number | undefined {
  const value = parseJson(body);
  // When a stream is sent as a list, its error is in a list too.
  const [whole = {}] = (Array.isArray(value) ? value : [value]).filter(isJsonObject);
  const error = objectAt(whole, 'error');
  for (const detail of objectsAt(error, 'details')) {
    const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(stringAt(detail, 'retryDelay')) ?? [];
    if (seconds !== undefined) return Number(seconds) * 1000;
  }
  for (const { retry_after: seconds } of [error, whole]) {
    if (typeof seconds === 'number' && seconds >= 0) return seconds * 1000;
  }
  return undefined;
}
