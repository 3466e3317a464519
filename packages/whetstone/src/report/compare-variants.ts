import { holm } from '../stats/holm.ts';
import { labelPermutationP, type TaskCounts } from '../stats/label-permutation.ts';
import {
  FEWEST_TASKS,
  minimumDetectableDifference,
  populationDifference,
  type TaskDifference,
  tasksNeeded,
  trialNoise,
} from '../stats/population-difference.ts';
import type { CaseResult } from './case-results.ts';
import { decideVerdict, explainVerdict, type Measured, PLANNED_DIFFERENCE } from './comparison-verdict.ts';
import type { Arm, Comparison, Estimate, Summary } from './summary.ts';
import { taskValues } from './task-values.ts';

/** An arm with its planned cases. */
export type ArmCases = { arm: Arm; cases: readonly CaseResult[] };

/** A variant with the baseline of the same agent, and what they are compared by. */
export type ArmPair = { variant: ArmCases; baseline: ArmCases; metric: Summary['metric'] };

/** Compares variants with their baselines, paired by task. Holm's correction is over all of them (statistics, R6). */
export function compareVariants(pairs: readonly ArmPair[]): Comparison[] {
  const measured = pairs.map((pair) => ({ metric: pair.metric, one: measure(pair) }));
  const adjusted = holm(measured.map(({ one }) => one.p_value ?? 1));
  return measured.map(({ metric, one }, i) => {
    const adjusted_p_value = one.p_value === null ? null : (adjusted[i] ?? null);
    const known = { ...one, adjusted_p_value };
    const verdict = decideVerdict(known);
    const why = explainVerdict(known, verdict, { compared: pairs.length, metric });
    return { ...known, verdict, sentence: `${verdict}: ${why}` };
  });
}

function measure(pair: ArmPair): Measured {
  const { variant, baseline, metric } = pair;
  const ofVariant = taskValues(variant.cases, metric.kind);
  const ofBaseline = taskValues(baseline.cases, metric.kind);
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
    these_tasks_p_value:
      metric.kind === 'pass_rate' && haveTrialsToDeal(pairs) ? labelPermutationP(pairs.map(countsOf)) : null,
    bounds: boundsOf(variant.arm.primary.bounds, baseline.arm.primary.bounds),
    interval_bounds: intervalBounds(pair),
    ...planning(pairs.map(differenceOf), found?.standardDeviation ?? null),
  };
}

/** The values of one task in both arms, at least one in each. */
type Pair = { variant: readonly number[]; baseline: readonly number[] };

/** With one trial per arm, the trials of a task say nothing about that task only (statistics, R2). */
const haveTrialsToDeal = (pairs: readonly Pair[]): boolean =>
  pairs.length > 0 && pairs.every(({ variant, baseline }) => variant.length > 1 && baseline.length > 1);

function pairsOf(ofVariant: Map<string, number[]>, ofBaseline: Map<string, number[]>): Pair[] {
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
  { variant, baseline, metric }: ArmPair,
  missing?: 'against' | 'in-favor',
): TaskDifference[] {
  const [ofMissing, inBaseline] =
    missing === undefined ? [] : missing === 'in-favor' ? ([1, 0] as const) : ([0, 1] as const);
  const ofVariant = taskValues(variant.cases, metric.kind, ofMissing);
  const ofBaseline = taskValues(baseline.cases, metric.kind, inBaseline);
  return pairsOf(ofVariant, ofBaseline).map(differenceOf);
}

const countsOf = ({ variant, baseline }: Pair): TaskCounts => ({
  variant: { passed: sum(variant), trials: variant.length },
  baseline: { passed: sum(baseline), trials: baseline.length },
});

const differenceOf = ({ variant, baseline }: Pair): TaskDifference => ({
  difference: sum(variant) / variant.length - sum(baseline) / baseline.length,
  trials: { variant: variant.length, baseline: baseline.length },
});

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const boundsOf = (variant: Estimate['bounds'], baseline: Estimate['bounds']): Comparison['bounds'] =>
  variant && baseline && [variant[0] - baseline[1], variant[1] - baseline[0]];

/** The intervals over all planned cases, if those without a result came out against the variant, and for it. */
function intervalBounds(pair: ArmPair): Comparison['interval_bounds'] {
  const isComplete = [pair.variant, pair.baseline].every(({ arm }) => arm.primary.missing === 0);
  if (isComplete) return null;
  const intervalIf = (missing: 'against' | 'in-favor') => {
    const differences = taskDifferences(pair, missing);
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
