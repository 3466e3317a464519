import type { Clock } from '../control/clock.ts';
import type { LlmError } from './llm-error.ts';

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/**
 * How long to wait before attempt `retry` (1 is the first retry): what the provider asked for, else 1 s · 2ⁿ with ±50 %
 * jitter. `undefined`: do not try again, because it would not help or because the provider asked for more than a minute.
 */
export function retryDelay(
  error: LlmError,
  retry: number,
  maxRetries: number,
  clock: Clock,
): number | undefined {
  if (!error.retryable || retry > maxRetries) return undefined;
  if (error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= LONGEST_DELAY_MS ? error.retryAfterMs : undefined;
  }
  const backoff = FIRST_DELAY_MS * 2 ** (retry - 1) * (0.5 + clock.random());
  return Math.min(backoff, LONGEST_DELAY_MS);
}
