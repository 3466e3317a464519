import { holm } from '../stats/holm.ts';
import { labelPermutationP } from '../stats/label-permutation.ts';
import {
  FEWEST_TASKS,
  minimumDetectableDifference,
  populationDifference,
  type TaskDifference,
  tasksNeeded,
  trialNoise,
} from '../stats/population-difference.ts';
import { type CaseResult, type TaskCount, taskCounts } from './case-results.ts';
import { decideVerdict, explainVerdict, type Measured, PLANNED_DIFFERENCE } from './comparison-verdict.ts';
import type { Arm, Comparison } from './summary.ts';

/** An arm with its planned cases. */
export type ArmCases = { arm: Arm; cases: readonly CaseResult[] };

/** A variant with the baseline of the same agent. */
export type ArmPair = { variant: ArmCases; baseline: ArmCases };

/** Compares variants with their baselines, paired by task. Holm's correction is over all of them (statistics, R6). */
export function compareVariants(pairs: readonly ArmPair[]): Comparison[] {
  const measured = pairs.map(measure);
  const adjusted = holm(measured.map((one) => one.p_value ?? 1));
  return measured.map((one, i) => {
    const adjusted_p_value = one.p_value === null ? null : (adjusted[i] ?? null);
    const known = { ...one, adjusted_p_value };
    const verdict = decideVerdict(known);
    return { ...known, verdict, sentence: `${verdict}: ${explainVerdict(known, verdict, pairs.length)}` };
  });
}

function measure({ variant, baseline }: ArmPair): Measured {
  const ofVariant = taskCounts(variant.cases);
  const ofBaseline = taskCounts(baseline.cases);
  const tasks = [...new Set(variant.cases.map((one) => one.task_id))];
  const pairs = pairsOf(ofVariant, ofBaseline);
  const found = pairs.length === 0 ? null : populationDifference(pairs.map(differenceOf));
  // Fewer tasks give an interval that excludes next to nothing.
  const judged = pairs.length < FEWEST_TASKS ? null : found;
  return {
    agent: variant.arm.agent,
    variant: variant.arm.variant,
    baseline: baseline.arm.variant,
    tasks: pairs.length,
    tasks_without_result: tasks.filter((task) => !(ofVariant.has(task) && ofBaseline.has(task))),
    difference: found?.difference ?? null,
    interval: judged?.interval ?? null,
    p_value: judged?.pValue ?? null,
    these_tasks_p_value: haveTrialsToDeal(pairs) ? labelPermutationP(pairs) : null,
    bounds: boundsOf(variant.arm.bounds, baseline.arm.bounds),
    interval_bounds: intervalBounds({ variant, baseline }),
    ...planning(pairs.map(differenceOf), found?.standardDeviation ?? null),
  };
}

type Pair = { variant: TaskCount; baseline: TaskCount };

/** With one trial per arm, the trials of a task say nothing about that task only (statistics, R2). */
const haveTrialsToDeal = (pairs: readonly Pair[]): boolean =>
  pairs.length > 0 && pairs.every(({ variant, baseline }) => variant.trials > 1 && baseline.trials > 1);

function pairsOf(ofVariant: Map<string, TaskCount>, ofBaseline: Map<string, TaskCount>): Pair[] {
  return [...ofVariant].flatMap(([task, variant]) => {
    const baseline = ofBaseline.get(task);
    return baseline ? [{ variant, baseline }] : [];
  });
}

/**
 * The differences of the tasks that have a result in both arms. `missing` says what the cases without a result count as,
 * seen from the variant; without it they are left out.
 */
export function taskDifferences(
  { variant, baseline }: ArmPair,
  missing?: 'against' | 'in-favor',
): TaskDifference[] {
  const isFavored = missing === undefined ? undefined : missing === 'in-favor';
  const ofVariant = taskCounts(variant.cases, isFavored);
  const ofBaseline = taskCounts(baseline.cases, isFavored === undefined ? undefined : !isFavored);
  return pairsOf(ofVariant, ofBaseline).map(differenceOf);
}

function differenceOf({ variant, baseline }: Pair): TaskDifference {
  return {
    difference: variant.passed / variant.trials - baseline.passed / baseline.trials,
    trials: { variant: variant.trials, baseline: baseline.trials },
  };
}

const boundsOf = (variant: Arm['bounds'], baseline: Arm['bounds']): Comparison['bounds'] =>
  variant && baseline && [variant[0] - baseline[1], variant[1] - baseline[0]];

/** The intervals over all planned cases, if those without a result came out against the variant, and for it. */
function intervalBounds({ variant, baseline }: ArmPair): Comparison['interval_bounds'] {
  const isComplete = [variant, baseline].every(({ arm }) => arm.error + arm.missing === 0);
  if (isComplete) return null;
  const intervalIf = (missing: 'against' | 'in-favor') => {
    const differences = taskDifferences({ variant, baseline }, missing);
    return differences.length === 0 ? null : populationDifference(differences).interval;
  };
  return { against: intervalIf('against'), in_favor: intervalIf('in-favor') };
}

/** What such tasks could have shown; `null` where the spread is not known or nothing can be shown. */
function planning(
  pairs: readonly TaskDifference[],
  spread: number | null,
): Pick<Comparison, 'minimum_detectable_difference' | 'tasks_needed'> {
  if (spread === null) return { minimum_detectable_difference: null, tasks_needed: null };
  const noise = trialNoise(pairs);
  const smallest = minimumDetectableDifference(pairs.length, spread, noise);
  return {
    minimum_detectable_difference: pairs.length < FEWEST_TASKS || smallest >= 1 ? null : smallest,
    tasks_needed: tasksNeeded(PLANNED_DIFFERENCE, spread, noise),
  };
}
