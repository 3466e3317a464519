import type { AgentContext, TurnExit } from '../agent.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The time limit of one turn. Its timers keep the process alive, because what an adapter waits for may not. */
export function startTurnClock(
  { signal: aborted, timeoutMs }: Pick<AgentContext, 'signal' | 'timeoutMs'>,
  graceMs: number,
) {
  const limit = new AbortController();
  const timers = [setTimeout(() => limit.abort(timedOut()), Math.min(timeoutMs, LONGEST_TIMER_MS))];
  const signal = AbortSignal.any([aborted, limit.signal]);
  const over = Promise.withResolvers<undefined>();
  const startGrace = () => {
    timers.push(setTimeout(() => over.resolve(undefined), graceMs));
  };
  if (signal.aborted) startGrace();
  else signal.addEventListener('abort', startGrace, { once: true });
  return {
    /** Fires at the time limit, and when the run is aborted. */
    signal,
    /** Why the turn was ended; `exit` as long as it was not. */
    ended: (): TurnExit['ended'] => (aborted.aborted ? 'abort' : limit.signal.aborted ? 'timeout' : 'exit'),
    /** Resolves `graceMs` after the signal has fired. */
    graceOver: over.promise,
    [Symbol.dispose]() {
      signal.removeEventListener('abort', startGrace);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

const timedOut = () => new DOMException('The turn has reached its time limit.', 'TimeoutError');
