import type { Interval } from '../stats/interval.ts';
import type { Scale } from '../stats/population-difference.ts';
import { estimateDifference, type Parts } from './estimate-difference.ts';
import type { Comparison } from './summary.ts';
import { type Missing, scaleOf, shownOn, taskDifferences } from './task-differences.ts';

/** An interval as reports have it. */
export function shownInterval(scale: Scale, interval: Interval | null | undefined): Interval | null {
  if (!interval) return null;
  return { ...interval, low: shownOn(scale, interval.low), high: shownOn(scale, interval.high) };
}

/**
 * The intervals over all planned cases, if those without a result, or without an amount over 0, came out against the variant, and
 * for it.
 */
export function intervalBounds(
  parts: Parts,
  options: { level: number; widening?: 'full' },
): Comparison['interval_bounds'] {
  const arms = parts.flatMap(({ variant, baseline, bridge }) => [
    variant.arm,
    baseline.arm,
    ...(bridge ? [bridge.now.arm, bridge.saved.arm] : []),
  ]);
  const isKnown = arms.every(({ primary }) => primary.missing === 0);
  if (isKnown && taskDifferences(parts).size === taskDifferences(parts, 'against').size) return null;
  const scale = scaleOf(parts[0].metric);
  const intervalIf = (missing: Missing) =>
    shownInterval(scale, estimateDifference(parts, { ...options, missing })?.interval);
  return { against: intervalIf('against'), in_favor: intervalIf('in-favor') };
}
