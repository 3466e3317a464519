import { setImmediate } from 'node:timers/promises';

/** For as long one piece of work may keep all others waiting. */
const SLICE_MS = 10;

/**
 * For a loop over many files that works synchronously: a promise per file costs more than reading it. Await the returned
 * function between two steps; it lets other cases have a turn when enough time has passed.
 */
export function takeTurns(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < SLICE_MS) return undefined;
    return setImmediate().then(() => {
      began = performance.now();
    });
  };
}
