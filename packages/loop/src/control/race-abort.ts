/** Resolves with the result of `work`, or with `undefined` `graceMs` after an abort. Abandoned work must not reject. */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const giveUp = () => resolve(undefined);
    const stop = listenForAbort(signal, () => {
      // Work that has settled by now wins.
      if (graceMs === 0) queueMicrotask(giveUp);
      else timer = setTimeout(giveUp, graceMs);
    });
    const end = () => {
      stop();
      if (timer) clearTimeout(timer);
    };
    work.then(
      (result) => {
        end();
        resolve(result);
      },
      (error) => {
        end();
        reject(error);
      },
    );
  });
}

/** Calls `listener` on abort; synchronously if the signal has aborted, unlike Node's `addAbortListener`. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): Disposable {
  const stop = signal && listenForAbort(signal, listener);
  return { [Symbol.dispose]: () => stop?.() };
}

type Listeners = Set<() => void>;

/** Who listens to a signal. One listener of the signal serves them all: each of its own costs a kilobyte and 2 µs. */
const listening = new WeakMap<AbortSignal, Listeners>();

function listenForAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => {};
  }
  const listeners = listening.get(signal) ?? listenTo(signal);
  // The same function may listen twice.
  const own = () => listener();
  listeners.add(own);
  return () => listeners.delete(own);
}

function listenTo(signal: AbortSignal): Listeners {
  const listeners: Listeners = new Set();
  const callAll = () => {
    for (const listener of listeners) listener();
  };
  signal.addEventListener('abort', callAll, { once: true });
  listening.set(signal, listeners);
  return listeners;
}

/** Whether a time limit has aborted the signal, and not a person. */
export function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

/** For what the model and the host read about an abort. */
export function whoAborted(signal: AbortSignal): string {
  return isTimeout(signal) ? 'the time limit' : 'the user';
}
