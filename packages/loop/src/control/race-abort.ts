/**
 * Resolves with the result of `work`, or with `undefined` where `work` has not settled `graceMs` milliseconds after an
 * abort. Work that is abandoned continues unobserved, so it must not reject later.
 */
export async function raceAbort<T>(
  work: Promise<T>,
  signal: AbortSignal,
  graceMs: number,
): Promise<T | undefined> {
  const { promise: gaveUp, resolve } = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  const abort = () => {
    if (graceMs === 0) resolve(undefined);
    else timer = setTimeout(() => resolve(undefined), graceMs);
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, gaveUp]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Whether a time limit has aborted the signal, and not a person. */
export function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
