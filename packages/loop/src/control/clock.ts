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

/**
 * Milliseconds on a clock that nobody sets, for how long something takes. `performance.now()` goes through three functions
 * of Node: with ten calls per round, V8 would soon optimise them with its largest compiler.
 */
export const monotonicMs = (): number => process.uptime() * 1000;

/** The clock of this machine. */
export const systemClock: Clock = {
  now: Date.now,
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
  random: Math.random,
};
