import { setTimeout as delay } from 'node:timers/promises';

/** A timer for longer, 24 days, goes off at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Where a session gets the time and its random numbers from, so that a test can bring its own. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after so many milliseconds. Rejects when `signal` aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** A number from 0 to below 1. */
  random(): number;
};

/** The clock of this machine. */
export const systemClock: Clock = {
  now: Date.now,
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
  random: Math.random,
};
