/** Until disposed: the first SIGINT, SIGTERM or SIGHUP calls `first`, a second one ends the process with code 130. */
export function onEndSignal(first: () => void): Disposable {
  let isAsked = false;
  const handle = () => {
    if (isAsked) process.exit(130);
    isAsked = true;
    first();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, handle);
  const release = endsWithStdin() ? atEndOfStdin(handle) : undefined;
  return {
    [Symbol.dispose]() {
      for (const name of signals) process.off(name, handle);
      release?.();
    },
  };
}

/** Set by a program that starts this one and holds its stdin: whatever ends that program also ends this one. */
const ENDS_WITH_STDIN = 'WHETSTONE_ENDS_WITH_STDIN';

/** Only this process is meant, and none that it starts. */
function endsWithStdin(): boolean {
  const isSet = process.env[ENDS_WITH_STDIN] === '1';
  delete process.env[ENDS_WITH_STDIN];
  return isSet;
}

function atEndOfStdin(handle: () => void): () => void {
  process.stdin.on('end', handle).resume();
  return () => {
    process.stdin.off('end', handle).pause();
  };
}

/** Ctrl-C once aborts the signal: nothing more is started, what runs is killed, what has finished is written. */
export function onInterrupt(stderr: NodeJS.WritableStream): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const listening = onEndSignal(() => {
    stderr.write('\nStopping what runs; finished cases are kept. Ctrl-C again to leave at once.\n');
    controller.abort(new Error('interrupted'));
  });
  return { signal: controller.signal, [Symbol.dispose]: () => listening[Symbol.dispose]() };
}
