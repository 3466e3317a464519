import { present } from '@whetstone/events/present';
import { holm } from '../stats/holm.ts';
import { labelPermutationP } from '../stats/label-permutation.ts';
import {
  FEWEST_TASKS,
  minimumDetectableDifference,
  populationDifference,
  type Scale,
  type TaskDifference,
  tasksNeeded,
  trialNoise,
} from '../stats/population-difference.ts';
import {
  bridgeSentence,
  decideVerdict,
  explainVerdict,
  type Measured,
  PLANNED_DIFFERENCE,
} from './comparison-verdict.ts';
import { equivalenceOf } from './equivalence.ts';
import {
  bridgeDifferences,
  type EstimatedDifference,
  estimateDifference,
  type Parts,
} from './estimate-difference.ts';
import { missingData } from './missing-data.ts';
import type { Comparison, Estimate } from './summary.ts';
import {
  type ArmCases,
  type ArmPair,
  countsOf,
  measuredOn,
  scaleOf,
  shownOn,
  taskDifferences,
} from './task-differences.ts';
import { intervalBounds, shownInterval } from './task-intervals.ts';
import { unplannedLook } from './unplanned-look.ts';
import { verifierEffect, verifierSentence } from './verifier-noise.ts';

/** What was declared before the first case. */
export type Declared = {
  /** Differences up to this size count as none, in the unit of the metric. Default: nothing makes an equivalence. */
  margin?: number | undefined;
  /** The level of the tests: of one look in a sequential run. Default: 0.05. */
  alpha?: number;
};

/**
 * Compares variants with their baselines, paired by task: one comparison for each pair, then one for each variant that
 * several agents have, pooled over them. Holm's correction is over all of them (statistics, R6).
 */
export function compareVariants(
  pairs: readonly ArmPair[],
  { margin, alpha = 0.05 }: Declared = {},
): Comparison[] {
  const compared = [...pairs.map((pair) => [pair] as const), ...pooledPairs(pairs)];
  const measured = compared.map((parts) => measure(parts, { margin, alpha, comparisons: compared.length }));
  const adjusted = holm(measured.map((one) => one.p_value ?? 1));
  return compared.flatMap(([{ metric }], i) => {
    const one = measured[i];
    if (!one) return [];
    const known = { ...one, adjusted_p_value: one.p_value === null ? null : (adjusted[i] ?? null) };
    const verdict = decideVerdict(known, { metric, alpha });
    const why = explainVerdict(known, verdict, { compared: compared.length, metric, alpha });
    return {
      ...known,
      verdict,
      sentence: `${verdict}: ${why}${bridgeSentence(known, metric.unit)}${verifierSentence(known)}`,
    };
  });
}

/** The pairs of the same two variants with several agents. */
function pooledPairs(pairs: readonly ArmPair[]): Parts[] {
  const same = ({ variant, baseline }: ArmPair) =>
    JSON.stringify([variant.arm.variant, baseline.arm.variant]);
  return [...Map.groupBy(pairs, same).values()].flatMap(([first, ...others]): Parts[] =>
    first && others.length > 0 ? [[first, ...others]] : [],
  );
}

function measure(
  parts: Parts,
  { margin, alpha, comparisons }: { margin: number | undefined; alpha: number; comparisons: number },
): Measured {
  const [{ variant, baseline, metric }] = parts;
  const scale = scaleOf(metric);
  const byTask = taskDifferences(parts);
  const differences = [...byTask.values()];
  const level = 1 - alpha;
  const found = estimateDifference(parts, { level });
  // Fewer tasks give an interval that excludes next to nothing.
  const judged = differences.length < FEWEST_TASKS ? null : found;
  // A baseline that was only planned for some tasks, as a bridge, is not missing for the others.
  const tasks = new Set(parts.flatMap(({ variant, baseline }) => tasksOf(variant, tasksOf(baseline))));
  const counts = metric.kind === 'pass_rate' ? countsOf(parts) : [];
  const isPooled = parts.length > 1;
  return {
    agent: isPooled ? 'all agents' : variant.arm.agent,
    ...(isPooled && { pooled: true }),
    variant: variant.arm.variant,
    baseline: baseline.arm.variant,
    tasks: differences.length,
    tasks_without_result: [...tasks].filter((task) => !byTask.has(task)),
    difference: found && shownOn(scale, found.difference),
    interval: shownInterval(scale, judged?.interval),
    p_value: judged?.pValue ?? null,
    these_tasks_p_value: haveTrialsToDeal(counts) ? labelPermutationP(counts) : null,
    bounds: isPooled ? null : boundsOf(variant.arm.primary.bounds, baseline.arm.primary.bounds),
    interval_bounds: intervalBounds(parts, { level }),
    ...present({
      verifier: verifierEffect(parts) ?? undefined,
      missing_data: missingData(parts) ?? undefined,
      bridge: found ? bridgeOf(parts, found) : undefined,
      e_value: unplannedLook(parts, comparisons),
    }),
    ...planning(differences, scale, found?.standardDeviation ?? null),
    equivalence: margin === undefined ? null : equivalenceOf(parts, differences, { margin, comparisons }),
  };
}

/** The planned tasks of an arm, or those of `among`. */
function tasksOf({ cases }: ArmCases, among?: readonly string[]): string[] {
  const known = among && new Set(among);
  return [...new Set(cases.map((one) => one.task_id))].filter((id) => known?.has(id) ?? true);
}

function bridgeOf(parts: Parts, { drift, bridgeTasks }: EstimatedDifference): Comparison['bridge'] {
  const [{ bridge, metric }] = parts;
  if (!bridge || drift === undefined || bridgeTasks === undefined) return undefined;
  const scale = scaleOf(metric);
  const differences = [...bridgeDifferences(parts).values()];
  const measured = differences.length < FEWEST_TASKS ? null : populationDifference(differences, { scale });
  return {
    variant: bridge.now.arm.variant,
    tasks: bridgeTasks,
    trials: parts.reduce((sum, part) => sum + (part.bridge?.now.arm.trials ?? 0), 0),
    drift: shownOn(scale, drift),
    drift_interval: shownInterval(scale, measured?.interval),
  };
}

/** With one trial per arm, the trials of a task say nothing about that task only (statistics, R2). */
const haveTrialsToDeal = (counts: ReturnType<typeof countsOf>): boolean =>
  counts.length > 0 && counts.every(({ variant, baseline }) => variant.trials > 1 && baseline.trials > 1);

const boundsOf = (variant: Estimate['bounds'], baseline: Estimate['bounds']): Comparison['bounds'] =>
  variant && baseline && [variant[0] - baseline[1], variant[1] - baseline[0]];

/** What such tasks could have shown; `null` where the spread is not known or nothing can be shown. */
function planning(
  differences: readonly TaskDifference[],
  scale: Scale,
  spread: number | null,
): Pick<Comparison, 'minimum_detectable_difference' | 'tasks_needed'> {
  if (spread === null) return { minimum_detectable_difference: null, tasks_needed: null };
  const noise = trialNoise(differences);
  const smallest = minimumDetectableDifference(differences.length, spread, noise, { scale });
  const cannotShow = differences.length < FEWEST_TASKS || (scale === 'rate' && smallest >= 1);
  return {
    minimum_detectable_difference: cannotShow ? null : shownOn(scale, smallest),
    tasks_needed: tasksNeeded(measuredOn(scale, PLANNED_DIFFERENCE), spread, noise, { scale }),
  };
}
