import { setTimeout as delay } from 'node:timers/promises';

/** Time and chance, so that a test can bring its own. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects when `signal` aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** From 0 to below 1. */
  random(): number;
};

export const systemClock: Clock = {
  now: Date.now,
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
  random: Math.random,
};
