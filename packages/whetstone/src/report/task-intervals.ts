import type { Interval } from '../stats/interval.ts';
import { populationDifference, type Scale } from '../stats/population-difference.ts';
import type { Comparison } from './summary.ts';
import { type ArmPair, type Missing, scaleOf, shownOn, taskDifferences } from './task-differences.ts';

/** An interval as reports have it. */
export function shownInterval(scale: Scale, interval: Interval | null | undefined): Interval | null {
  if (!interval) return null;
  return { ...interval, low: shownOn(scale, interval.low), high: shownOn(scale, interval.high) };
}

/** The intervals over all planned cases, if those without a result came out against the variant, and for it. */
export function intervalBounds(
  parts: readonly [ArmPair, ...ArmPair[]],
  level: number,
): Comparison['interval_bounds'] {
  const arms = parts.flatMap(({ variant, baseline }) => [variant.arm, baseline.arm]);
  if (arms.every(({ primary }) => primary.missing === 0)) return null;
  const scale = scaleOf(parts[0].metric);
  const intervalIf = (missing: Missing) => {
    const differences = [...taskDifferences(parts, missing).values()];
    if (differences.length === 0) return null;
    return shownInterval(scale, populationDifference(differences, { scale, level }).interval);
  };
  return { against: intervalIf('against'), in_favor: intervalIf('in-favor') };
}
