import { errorTable, WhetstoneError } from '@whetstone/errors';
import type { Usage } from '@whetstone/events';
import {
  type ErrorFacts,
  errorCodeOf,
  isHopeless,
  type LlmErrorCode,
  readErrorFacts,
  retryAfterOf,
} from './provider-error.ts';

/** A model call that failed, in one shape for every provider. `message` holds no key and no request content. */
export class LlmError extends WhetstoneError {
  override readonly name = 'LlmError';
  declare readonly code: LlmErrorCode;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** How long the provider asked to wait. */
  readonly retryAfterMs: number | undefined;
  readonly statusCode: number | undefined;
  /** What the provider says that it charges, where it ended its answer and the answer is of no use. */
  readonly usage: Usage | undefined;

  constructor(
    code: LlmErrorCode,
    message: string,
    details: {
      retryable?: boolean;
      retryAfterMs?: number | undefined;
      statusCode?: number | undefined;
      usage?: Usage | undefined;
      hint?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(code, redactKeys(message), { hint: details.hint, cause: details.cause });
    this.retryable = details.retryable ?? RETRYABLE.has(code);
    this.retryAfterMs = details.retryAfterMs;
    this.statusCode = details.statusCode;
    this.usage = details.usage;
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
  const facts = readErrorFacts(error);
  const code = errorCodeOf(facts);
  return new LlmError(code, describe(facts), {
    ...(isHopeless(facts, code) ? { retryable: false } : {}),
    retryAfterMs: retryAfterOf(facts),
    statusCode: facts.status,
    hint: UP_TO_THE_USER.has(code) ? errorTable[code].fix : undefined,
    cause: error,
  });
}

function describe({ message, status }: ErrorFacts): string {
  if (status !== undefined && status >= 300 && status < 400)
    return `The provider answered with a redirect (HTTP ${status}), which is not followed. Set the base URL to where it leads.`;
  return `${message || 'The model call failed'}${status === undefined ? '' : ` (HTTP ${status})`}`;
}

/** Providers quote keys in their messages. */
function redactKeys(text: string): string {
  return text.replaceAll(/\b(?:sk|pk|rk)-[\w*.-]{6,}|\bAIza[\w-]{10,}|Bearer\s+[\w.-]+/g, '[key]');
}
