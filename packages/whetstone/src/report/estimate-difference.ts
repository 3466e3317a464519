import { present } from '@whetstone/events/present';
import { type BridgedDifference, bridgedDifference } from '../stats/bridged-difference.ts';
import {
  FEWEST_TASKS,
  type PopulationDifference,
  populationDifference,
} from '../stats/population-difference.ts';
import { type ArmPair, type Missing, scaleOf, taskDifferences } from './task-differences.ts';

/** The pairs of one comparison, each of one agent. */
export type Parts = readonly [ArmPair, ...ArmPair[]];

export type EstimatedDifference = PopulationDifference &
  Partial<Pick<BridgedDifference, 'drift' | 'bridgeTasks'>>;

/**
 * The difference for tasks like these. Against a baseline of another day it is corrected by the bridge trials, if at least
 * four tasks have some. `missing`: what the cases without a result count as. `widening`: `full` for an equivalence. `null`: no
 * task has a result in both arms.
 */
export function estimateDifference(
  parts: Parts,
  { level, missing, widening }: { level?: number; missing?: Missing; widening?: 'full' } = {},
): EstimatedDifference | null {
  const compared = taskDifferences(parts, missing);
  if (compared.size === 0) return null;
  const options = { scale: scaleOf(parts[0].metric), ...present({ level, widening }) };
  const bridge = bridgeDifferences(parts, missing);
  const usable = new Map([...bridge].filter(([task]) => compared.has(task)));
  return usable.size < FEWEST_TASKS
    ? populationDifference([...compared.values()], options)
    : bridgedDifference(compared, usable, options);
}

/** The drift of each bridge task: the baseline of now against the saved one. Empty where a pair has no bridge. */
export function bridgeDifferences(parts: readonly ArmPair[], missing?: Missing) {
  const pairs = parts.flatMap(({ bridge, metric }) =>
    bridge ? [{ variant: bridge.now, baseline: bridge.saved, metric }] : [],
  );
  if (pairs.length < parts.length) return new Map<string, never>();
  // What is good for the baseline of now is bad for the variant.
  return taskDifferences(pairs, missing && (missing === 'against' ? 'in-favor' : 'against'));
}
