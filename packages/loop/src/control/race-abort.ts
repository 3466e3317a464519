/** Resolves with the result of `work`, or with `undefined` `graceMs` after an abort. Abandoned work must not reject. */
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

/** Calls `listener` on abort; synchronously if the signal has aborted, unlike Node's `addAbortListener`. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): Disposable {
  if (signal?.aborted) listener();
  else signal?.addEventListener('abort', listener, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', listener) };
}

/** Whether a time limit has aborted the signal, and not a person. */
export function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
