/** A confidence interval. `level` is the intended coverage (0.95); `method` names the method for a reader. */
export type Interval = { low: number; high: number; level: number; method: string };

/** Cuts an interval to the range of possible values. */
export function clipInterval(interval: Interval, low: number, high: number): Interval {
  return { ...interval, low: Math.max(low, interval.low), high: Math.min(high, interval.high) };
}
