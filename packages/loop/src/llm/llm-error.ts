import { APICallError } from '@ai-sdk/provider';
import { type ErrorCode, errorTable, messageOf, WhetstoneError } from '@whetstone/errors';

/** What went wrong with a model call. */
export type LlmErrorCode = Extract<ErrorCode, `model-${string}`>;

/** A model call that failed, in one shape for every provider. `message` holds no key and no request content. */
export class LlmError extends WhetstoneError {
  override readonly name = 'LlmError';
  declare readonly code: LlmErrorCode;
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
      hint?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(code, redactKeys(message), { hint: details.hint, cause: details.cause });
    this.retryable = details.retryable ?? RETRYABLE.has(code);
    this.retryAfterMs = details.retryAfterMs;
    this.statusCode = details.statusCode;
  }
}

const RETRYABLE: ReadonlySet<LlmErrorCode> = new Set([
  'model-rate-limit',
  'model-server-error',
  'model-timeout',
  'model-network-failed',
  'model-stream-broken',
  'model-response-empty',
  'model-failed',
]);

/** Neither another try nor the provider's own message says what to do about these. */
const UP_TO_THE_USER: ReadonlySet<LlmErrorCode> = new Set([
  'model-authentication-failed',
  'model-access-denied',
  'model-not-found',
  'model-context-overflow',
  'model-quota-exceeded',
  'model-key-missing',
]);

/** Sorts whatever a provider package threw or put into its stream. */
export function classifyLlmError(error: unknown, signal: AbortSignal): LlmError {
  // An abort in the middle of a stream surfaces as a failed call, so the signal is the only witness.
  if (signal.aborted)
    return new LlmError('model-call-aborted', 'The model call was aborted.', { cause: error });
  if (error instanceof LlmError) return error;
  const facts = readFacts(error);
  const code = codeOf(facts);
  return new LlmError(code, describe(facts), {
    ...(facts.isRetryable === false && code === 'model-failed' ? { retryable: false } : {}),
    retryAfterMs: retryAfter(facts.headers),
    statusCode: facts.status,
    hint: UP_TO_THE_USER.has(code) ? errorTable[code].fix : undefined,
    cause: error,
  });
}

type Facts = ReturnType<typeof readFacts>;

function readFacts(error: unknown) {
  const record = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  const text = (key: string) => (typeof record[key] === 'string' ? record[key] : '');
  const message = messageOf(error);
  return {
    message,
    /** Everything textual that may name the reason. */
    text: `${message} ${text('responseBody')} ${text('type')} ${text('code')}`,
    status: typeof record.statusCode === 'number' ? record.statusCode : undefined,
    headers: APICallError.isInstance(error) ? (error.responseHeaders ?? {}) : {},
    isRetryable: typeof record.isRetryable === 'boolean' ? record.isRetryable : undefined,
    name: error instanceof Error ? error.name : '',
  };
}

const CONTEXT_LENGTH =
  /context[_ ]length|context window|maximum context|prompt is too long|too many tokens|input is too long|exceeds? the (?:model'?s )?(?:context|maximum)/i;

const BY_STATUS: Readonly<Record<number, LlmErrorCode>> = {
  401: 'model-authentication-failed',
  403: 'model-access-denied',
  404: 'model-not-found',
  408: 'model-timeout',
  409: 'model-server-error',
  413: 'model-context-overflow',
  425: 'model-server-error',
  429: 'model-rate-limit',
};

function codeOf({ status, text, name, isRetryable }: Facts): LlmErrorCode {
  if (name === 'AI_LoadAPIKeyError') return 'model-key-missing';
  if ((status === 400 || status === undefined) && CONTEXT_LENGTH.test(text)) return 'model-context-overflow';
  if (status === 429 && /insufficient_quota|exceeded your current quota/i.test(text))
    return 'model-quota-exceeded';
  if (status !== undefined && status >= 400)
    return BY_STATUS[status] ?? (status >= 500 ? 'model-server-error' : 'model-request-invalid');
  if (/overloaded/i.test(text)) return 'model-server-error';
  if (isNetworkFailure(text, name, isRetryable)) return 'model-network-failed';
  return 'model-failed';
}

function isNetworkFailure(text: string, name: string, isRetryable: boolean | undefined): boolean {
  if (name === 'AI_APICallError' && isRetryable) return true;
  return /fetch failed|Cannot connect|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|UND_ERR|socket|terminated|network/i.test(
    text,
  );
}

function describe({ message, status }: Facts): string {
  return `${message || 'The model call failed'}${status === undefined ? '' : ` (HTTP ${status})`}`;
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
