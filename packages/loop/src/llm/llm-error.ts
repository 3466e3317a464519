import { APICallError } from '@ai-sdk/provider';
import { messageOf } from '@whetstone/errors';

/** What went wrong with a model call. */
export type LlmErrorCode =
  | 'authentication'
  | 'access_denied'
  | 'not_found'
  | 'invalid_request'
  | 'context_length'
  | 'rate_limit'
  | 'quota_exceeded'
  | 'server'
  | 'timeout'
  | 'network'
  | 'stream'
  | 'empty_response'
  | 'aborted'
  | 'configuration'
  | 'unknown';

/** A model call that failed, in one shape for every provider. `message` holds no key and no request content. */
export class LlmError extends Error {
  override readonly name = 'LlmError';
  readonly code: LlmErrorCode;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** How long the provider asked to wait. */
  readonly retryAfterMs: number | undefined;
  readonly statusCode: number | undefined;

  constructor(
    code: LlmErrorCode,
    message: string,
    details: {
      retryable?: boolean;
      retryAfterMs?: number | undefined;
      statusCode?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(redactKeys(message), { cause: details.cause });
    this.code = code;
    this.retryable = details.retryable ?? RETRYABLE.has(code);
    this.retryAfterMs = details.retryAfterMs;
    this.statusCode = details.statusCode;
  }
}

const RETRYABLE: ReadonlySet<LlmErrorCode> = new Set([
  ...(['rate_limit', 'server', 'timeout', 'network', 'stream', 'empty_response', 'unknown'] as const),
]);

/** Sorts whatever a provider package threw or put into its stream. */
export function classifyLlmError(error: unknown, signal: AbortSignal): LlmError {
  // An abort in the middle of a stream surfaces as a failed call, so the signal is the only witness.
  if (signal.aborted) return new LlmError('aborted', 'The model call was aborted.', { cause: error });
  if (error instanceof LlmError) return error;
  const facts = readFacts(error);
  const code = codeOf(facts);
  return new LlmError(code, describe(code, facts), {
    ...(facts.isRetryable === false && code === 'unknown' ? { retryable: false } : {}),
    retryAfterMs: retryAfter(facts.headers),
    statusCode: facts.status,
    cause: error,
  });
}

type Facts = {
  message: string;
  /** Everything textual that may name the reason: message, body, error type. */
  text: string;
  status: number | undefined;
  headers: Record<string, string>;
  isRetryable: boolean | undefined;
  name: string;
};

function readFacts(error: unknown): Facts {
  const record = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  const message = messageOf(error);
  const body = typeof record.responseBody === 'string' ? record.responseBody : '';
  const type = ['type', 'code'].map((key) => (typeof record[key] === 'string' ? record[key] : '')).join(' ');
  return {
    message,
    text: `${message} ${body} ${type}`,
    status: typeof record.statusCode === 'number' ? record.statusCode : undefined,
    headers: APICallError.isInstance(error) ? (error.responseHeaders ?? {}) : {},
    isRetryable: typeof record.isRetryable === 'boolean' ? record.isRetryable : undefined,
    name: error instanceof Error ? error.name : '',
  };
}

const CONTEXT_LENGTH =
  /context[_ ]length|context window|maximum context|prompt is too long|too many tokens|input is too long|exceeds? the (?:model'?s )?(?:context|maximum)/i;

function codeOf({ status, text, name, isRetryable }: Facts): LlmErrorCode {
  if (name === 'AI_LoadAPIKeyError') return 'configuration';
  if (status === 413 || ((status === 400 || status === undefined) && CONTEXT_LENGTH.test(text)))
    return 'context_length';
  if (status === 401) return 'authentication';
  if (status === 403) return 'access_denied';
  if (status === 404) return 'not_found';
  if (status === 408) return 'timeout';
  if (status === 429)
    return /insufficient_quota|exceeded your current quota/i.test(text) ? 'quota_exceeded' : 'rate_limit';
  if (status !== undefined && status >= 500) return 'server';
  if (status !== undefined && status >= 400)
    return status === 409 || status === 425 ? 'server' : 'invalid_request';
  if (/overloaded/i.test(text)) return 'server';
  if (isNetworkFailure(text, name, isRetryable)) return 'network';
  return 'unknown';
}

function isNetworkFailure(text: string, name: string, isRetryable: boolean | undefined): boolean {
  if (name === 'AI_APICallError' && isRetryable) return true;
  return /fetch failed|Cannot connect|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|UND_ERR|socket|terminated|network/i.test(
    text,
  );
}

const HINTS: Partial<Record<LlmErrorCode, string>> = {
  authentication: 'Check the API key of the model.',
  access_denied: 'The key has no access to this model or feature.',
  not_found: 'Check the model name and the base URL.',
  context_length: 'The conversation is longer than the context window of the model.',
  quota_exceeded: 'The account of the key has no credit left.',
  configuration: 'Pass an API key to the model or set the variable that its provider reads.',
};

function describe(code: LlmErrorCode, facts: Facts): string {
  const status = facts.status === undefined ? '' : ` (HTTP ${facts.status})`;
  const hint = HINTS[code];
  return `${facts.message || 'The model call failed'}${status}${hint ? ` ${hint}` : ''}`;
}

/** `retry-after-ms`, `retry-after` in seconds or as a date. */
function retryAfter(headers: Record<string, string>): number | undefined {
  const milliseconds = Number(headers['retry-after-ms']);
  if (headers['retry-after-ms'] && milliseconds >= 0) return milliseconds;
  const value = headers['retry-after'];
  if (!value) return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Providers quote keys in their messages. */
function redactKeys(text: string): string {
  return text.replaceAll(/\b(?:sk|pk|rk)-[\w*.-]{6,}|\bAIza[\w-]{10,}|Bearer\s+[\w.-]+/g, '[key]');
}
