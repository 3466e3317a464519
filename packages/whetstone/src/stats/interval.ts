/** A confidence interval. `level` is the coverage it aims at (0.95); `method` names how it was made, for a reader. */
export type Interval = { low: number; high: number; level: number; method: string };

/** The interval cut to the range that the quantity can have. */
export function clipInterval(interval: Interval, low: number, high: number): Interval {
  return { ...interval, low: Math.max(low, interval.low), high: Math.min(high, interval.high) };
}
