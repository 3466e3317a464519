/**
 * Ctrl-C once aborts the signal: nothing more is started, what runs is killed, what has finished is written. A second
 * Ctrl-C ends the process at once.
 */
export function onInterrupt(stderr: NodeJS.WritableStream): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const handle = () => {
    if (controller.signal.aborted) process.exit(130);
    stderr.write('\nStopping what runs; finished cases are kept. Ctrl-C again to leave at once.\n');
    controller.abort(new Error('interrupted'));
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, handle);
  return {
    signal: controller.signal,
    stop() {
      for (const name of signals) process.off(name, handle);
    },
  };
}
