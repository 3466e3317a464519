import type { SpendMeter } from './budget.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Least time between two looks: while the meter's clock is stopped, the remaining time does not shrink. */
const SHORTEST_TIMER_MS = 20;

/** Calls `onOver` once, when the wall time of the meter is used up. Dispose of the result to stop watching. */
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
