/**
 * The text of whatever was thrown: the `message` of an error, or of anything that has one (an error of another realm, a
 * plain object of a provider's SDK); everything else as `String` shows it.
 */
export function messageOf(error: unknown): string {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  return hasMessage && typeof error.message === 'string' ? error.message : String(error);
}

/** `fetch failed (getaddrinfo ENOTFOUND …)`: for what keeps the reason in its cause, as `fetch` does. */
export function messageWithCause(error: unknown): string {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  return reason === '' ? messageOf(error) : `${messageOf(error)} (${reason})`;
}

/** The `code` of an error of the system, such as `ENOENT`; `undefined` for anything without one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** What failed first: where `using` cannot end something after an error either, it throws a `SuppressedError` with both. */
export function firstError(error: unknown): unknown {
  return error instanceof Error && 'suppressed' in error ? firstError(error.suppressed) : error;
}
