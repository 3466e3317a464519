/** `work`, or `undefined` where it is not done `graceMs` after an abort. What is left behind must not reject. */
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

/** Whether a limit of time has aborted, not a person. */
export function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
