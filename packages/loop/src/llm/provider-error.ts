import { APICallError } from '@ai-sdk/provider';
import { type ErrorCode, messageOf, messageWithCause } from '@whetstone/errors';
import { isJsonObject, parseJson } from '@whetstone/events/json';

/** What went wrong with a model call. */
export type LlmErrorCode = Extract<ErrorCode, `model-${string}`>;

/** What a provider, or a proxy in front of it, said about a failed call. */
export type ErrorFacts = {
  message: string;
  /** Everything textual that may name the reason. */
  text: string;
  status: number | undefined;
  headers: Record<string, string>;
  isRetryable: boolean | undefined;
  name: string;
};

export function readErrorFacts(error: unknown): ErrorFacts {
  const record = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  const text = (key: string) => (typeof record[key] === 'string' ? record[key] : '');
  const headers = APICallError.isInstance(error) ? (error.responseHeaders ?? {}) : {};
  const body = text('responseBody');
  const status = typeof record.statusCode === 'number' ? record.statusCode : undefined;
  // The packages call a connection that breaks in the middle of an answer a success that they cannot process.
  const isCutShort = status === 200 && record.cause instanceof Error;
  const message = isCutShort ? `The response broke off: ${messageWithCause(record.cause)}` : messageOf(error);
  return {
    // The packages know the shape of their own provider only; a gateway in front of it has its own.
    message: isStatusText(message) ? (messageIn(parseJson(body)) ?? message) : message,
    text: `${message} ${body} ${text('type')} ${text('code')} ${headers['x-amzn-errortype'] ?? ''}`,
    status: isCutShort ? undefined : status,
    headers,
    isRetryable: typeof record.isRetryable === 'boolean' ? record.isRetryable : undefined,
    name: error instanceof Error ? error.name : '',
  };
}

const isStatusText = (message: string): boolean =>
  /^[A-Z][\w-]*(?: [A-Z-][\w-]*)*$/.test(message) || message === '';

function messageIn(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  for (const key of ['message', 'Message', 'error_description', 'detail', 'error']) {
    const value = body[key];
    const found = typeof value === 'string' ? value : messageIn(value);
    if (found) return found;
  }
  return undefined;
}

const CONTEXT_LENGTH =
  /context[_ ](?:length|window|limit)|maximum context|prompt is too long|too many tokens|input is too long|exceeds? the (?:model'?s )?(?:context|maximum)/i;
const WRONG_KEY =
  /API_KEY_INVALID|API key (?:not valid|expired)|invalid_api_key|UnrecognizedClient|ExpiredToken|security token included in the request is|InvalidSignature/i;
const NO_CREDIT =
  /insufficient_quota|credit balance is too low|billing_hard_limit|billing_error|"quotaId":\s*"[^"]*PerDay|\blimit: 0\b/i;
const THROTTLED = /Throttling(?:Exception)?\b|TooManyRequests|Rate exceeded/i;

const BY_STATUS: Readonly<Record<number, LlmErrorCode>> = {
  401: 'model-authentication-failed',
  402: 'model-quota-exceeded',
  403: 'model-access-denied',
  404: 'model-not-found',
  407: 'model-network-failed',
  408: 'model-timeout',
  409: 'model-server-error',
  413: 'model-context-overflow',
  424: 'model-server-error',
  425: 'model-server-error',
  429: 'model-rate-limit',
};

export function errorCodeOf({ status, text, name, isRetryable }: ErrorFacts): LlmErrorCode {
  if (name === 'AI_LoadAPIKeyError') return 'model-key-missing';
  const isRefusal = status === undefined || (status >= 400 && status < 500);
  if (isRefusal && NO_CREDIT.test(text)) return 'model-quota-exceeded';
  // OpenAI without a code. Gemini says the same of its limits per minute.
  if (status === 429 && /exceeded your current quota/i.test(text) && !/RESOURCE_EXHAUSTED/.test(text))
    return 'model-quota-exceeded';
  if (isRefusal && status !== 429 && WRONG_KEY.test(text)) return 'model-authentication-failed';
  if (isRefusal && THROTTLED.test(text)) return 'model-rate-limit';
  if ((status === 400 || status === undefined) && CONTEXT_LENGTH.test(text)) return 'model-context-overflow';
  if (status !== undefined && status >= 400)
    return BY_STATUS[status] ?? (status >= 500 ? 'model-server-error' : 'model-request-invalid');
  if (status !== undefined && status >= 300) return 'model-configuration-invalid';
  if (/overloaded/i.test(text)) return 'model-server-error';
  if (isNetworkFailure(text, name, isRetryable)) return 'model-network-failed';
  return 'model-failed';
}

/** Whether the same request fails again, although other failures with this code pass. */
export function isHopeless({ status, text, isRetryable }: ErrorFacts, code: LlmErrorCode): boolean {
  if (code === 'model-failed') return isRetryable === false;
  // A proxy wants credentials; a request is larger than what a minute allows.
  return status === 407 || (code === 'model-rate-limit' && /request too large/i.test(text));
}

function isNetworkFailure(text: string, name: string, isRetryable: boolean | undefined): boolean {
  if (name === 'AI_APICallError' && isRetryable) return true;
  return /fetch failed|Cannot connect|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|UND_ERR|socket|terminated|network/i.test(
    text,
  );
}

/**
 * How long to wait: `retry-after-ms`, `retry-after` in seconds or as a date, else what the body says: Gemini's
 * `RetryInfo`, a field `retry_after` in seconds, or a sentence such as `try again in 1m2.5s`. The longest time of a body
 * counts.
 */
export function retryAfterOf({ headers, text }: ErrorFacts): number | undefined {
  const milliseconds = Number(headers['retry-after-ms']);
  if (headers['retry-after-ms'] && milliseconds >= 0) return milliseconds;
  const value = headers['retry-after'];
  if (!value) return retryAfterIn(text);
  const seconds = Number(value);
  if (seconds >= 0) return seconds * 1000;
  const date = Number.isNaN(seconds) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? retryAfterIn(text) : Math.max(0, date - Date.now());
}

const DURATION =
  /([\d.]+) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])(?:,? and |,? )?/iy;
const TOLD_WAIT =
  /"retryDelay":\s*"|(?:retry|try again) (?:in|after) (?:about )?|\bwait (?=[\d.]+ \w+ before)/gi;
const WAIT_FIELD = /"retry_after(?:_(ms|seconds))?":\s*"?(\d+(?:\.\d+)?)"?\s*[,}]/g;
const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

function retryAfterIn(text: string): number | undefined {
  const waits = [...text.matchAll(TOLD_WAIT)].map(({ index, 0: found }) => {
    let sum = 0;
    DURATION.lastIndex = index + found.length;
    for (let part = DURATION.exec(text); part; part = DURATION.exec(text)) {
      const unit = part[2]?.toLowerCase() ?? '';
      sum += Number(part[1]) * (/^m(?:s|illi)/.test(unit) ? 1 : (UNITS[unit.charAt(0)] ?? 0));
    }
    return sum;
  });
  const fields = [...text.matchAll(WAIT_FIELD)].map(
    ({ 1: unit, 2: value }) => Number(value) * (unit === 'ms' ? 1 : 1_000),
  );
  const longest = Math.max(...waits, ...fields);
  return longest > 0 ? longest : undefined;
}
