import type { SpendMeter } from './budget.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** How soon to look again where the clock of the meter was halted. */
const SHORTEST_TIMER_MS = 20;

/** Calls `onOver` once when the wall time of the meter is used up. Dispose of it to stop watching. */
export function watchWallTime(meter: SpendMeter, onOver: () => void): Disposable {
  let timer: NodeJS.Timeout | undefined;
  const watch = () => {
    const remaining = meter.remainingMs();
    if (remaining === undefined) return;
    if (remaining <= 0) onOver();
    else timer = setTimeout(watch, Math.min(Math.max(remaining, SHORTEST_TIMER_MS), LONGEST_TIMER_MS));
  };
  watch();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
