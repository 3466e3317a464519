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
  using _abort = onAbort(signal, () => {
    if (graceMs === 0) resolve(undefined);
    else timer = setTimeout(resolve, graceMs, undefined);
  });
  try {
    return await Promise.race([work, gaveUp]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Calls `listener` once, when the signal aborts; synchronously where it already has, unlike Node's `addAbortListener`.
 * Dispose of the result to stop listening.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): Disposable {
  if (signal?.aborted) listener();
  else signal?.addEventListener('abort', listener, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', listener) };
}

/** Whether a time limit has aborted the signal, and not a person. */
export function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
