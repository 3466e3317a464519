import { holm } from '../stats/holm.ts';
import type { Interval } from '../stats/interval.ts';
import { pairedDifference } from '../stats/paired-difference.ts';
import { FEWEST_TASKS, minimumDetectableDifference, tasksNeeded } from '../stats/power.ts';
import { signFlipTest } from '../stats/sign-flip.ts';
import { counted, percentNumber, points, pointsRange, pValue } from './format.ts';
import { type PlannedCase, taskCounts } from './planned-case.ts';
import type { Arm, Comparison } from './summary.ts';

/** An arm with its planned cases. */
export type ArmCases = { arm: Arm; cases: readonly PlannedCase[] };

type Measured = Omit<Comparison, 'verdict' | 'sentence' | 'adjusted_p_value' | 'tasks_needed'> & {
  standardDeviation: number | null;
};

/**
 * The variants of one agent against its baseline, paired by task.
 *
 * A variant is `better` or `worse` only when three things agree, else it is `inconclusive`:
 * 1. the 95 % interval of the difference excludes 0;
 * 2. the sign-flip permutation test over tasks gives p < 0.05 after Holm's correction over the variants of this agent
 *    (so never with fewer than six tasks that differ);
 * 3. the cases without a result could not turn it: were all of them to come out against it, its sign would stay.
 */
export function compareVariants(
  baseline: ArmCases,
  variants: readonly ArmCases[],
  seed: string,
): Comparison[] {
  const measured = variants.map((variant) => measure(baseline, variant, seed));
  const adjusted = holm(measured.map((one) => one.p_value ?? 1));
  return measured.map((one, i) => {
    const { standardDeviation, ...comparison } = one;
    const adjustedPValue = one.p_value === null ? null : (adjusted[i] ?? null);
    const verdict = judge(one, adjustedPValue);
    const needed = isSignificant(one, adjustedPValue) ? null : neededTasks(one);
    return {
      ...comparison,
      adjusted_p_value: adjustedPValue,
      tasks_needed: needed,
      verdict,
      sentence: `${verdict}: ${explain(one, adjustedPValue, verdict, needed, variants.length)}`,
    };
  });
}

function measure(baseline: ArmCases, variant: ArmCases, seed: string): Measured {
  const ofBaseline = taskCounts(baseline.cases);
  const pairs = [...taskCounts(variant.cases)].flatMap(([task, count]) => {
    const other = ofBaseline.get(task);
    return other ? { variant: count.passed / count.counted, baseline: other.passed / other.counted } : [];
  });
  const paired = pairs.length === 0 ? null : pairedDifference(pairs);
  const standardDeviation = paired?.standardDeviation ?? null;
  const differences = pairs.map((pair) => pair.variant - pair.baseline);
  return {
    agent: variant.arm.agent,
    variant: variant.arm.variant,
    baseline: baseline.arm.variant,
    tasks: pairs.length,
    difference: paired?.difference ?? null,
    interval: paired?.interval ?? null,
    p_value: pairs.length < 2 ? null : signFlipTest(differences, { seed }).pValue,
    bounds: [variant.arm.bounds[0] - baseline.arm.bounds[1], variant.arm.bounds[1] - baseline.arm.bounds[0]],
    minimum_detectable_difference: detectable(pairs.length, standardDeviation),
    standardDeviation,
  };
}

/** `null` where the spread is not known, and where this many tasks can show no difference at all. */
function detectable(tasks: number, standardDeviation: number | null): number | null {
  if (!standardDeviation || tasks < FEWEST_TASKS) return null;
  const smallest = minimumDetectableDifference(tasks, standardDeviation);
  return smallest < 1 ? smallest : null;
}

function judge(measured: Measured, adjustedPValue: number | null): Comparison['verdict'] {
  const { interval, bounds } = measured;
  if (interval === null || !isSignificant(measured, adjustedPValue)) return 'inconclusive';
  if (interval.low > 0 && bounds[0] > 0) return 'better';
  if (interval.high < 0 && bounds[1] < 0) return 'worse';
  return 'inconclusive';
}

function isSignificant({ interval }: Measured, adjustedPValue: number | null): boolean {
  return interval !== null && excludesNone(interval) && adjustedPValue !== null && adjustedPValue < 0.05;
}

function excludesNone(interval: Interval): boolean {
  return interval.low > 0 || interval.high < 0;
}

/** More than there are: this many did not settle it. */
function neededTasks({ difference, standardDeviation, tasks }: Measured): number | null {
  if (difference === null || isNone(difference) || standardDeviation === null) return null;
  return Math.max(tasks + 1, tasksNeeded(difference, standardDeviation));
}

function explain(
  measured: Measured,
  adjustedPValue: number | null,
  verdict: Comparison['verdict'],
  needed: number | null,
  family: number,
): string {
  const { difference, interval, tasks } = measured;
  if (difference === null) return 'no task has a result in both arms';
  if (interval === null || adjustedPValue === null) {
    return `${points(difference)} pp on one task; one task gives no interval, and fewer than ${FEWEST_TASKS} tasks settle nothing`;
  }
  const found = `${points(difference)} pp, 95 % interval ${pointsRange(interval.low, interval.high)} over ${counted(tasks, 'task')}`;
  const probability =
    pValue(adjustedPValue) + (family > 1 ? ` after Holm's correction for ${family} variants` : '');
  if (verdict !== 'inconclusive') return `${found} (${probability})`;
  if (isSignificant(measured, adjustedPValue)) {
    const range = pointsRange(measured.bounds[0], measured.bounds[1]);
    return `${found}; the cases without a result could turn it: with them it lies in ${range}`;
  }
  const doubt = excludesNone(interval)
    ? `; the sign-flip test over tasks does not bear it out (${probability})`
    : '';
  return `${found}${doubt}; ${outlook(measured, needed)}`;
}

/** What would settle it, or what could have been seen. */
function outlook(measured: Measured, needed: number | null): string {
  const { standardDeviation, minimum_detectable_difference: smallest } = measured;
  if (needed !== null) {
    return `a difference of this size needs about ${counted(needed, 'task')} (80 % power)`;
  }
  if (standardDeviation === 0) return 'every task came out alike in both arms';
  if (smallest === null) return 'no difference of any size would show with so few tasks';
  return `differences below ${percentNumber(smallest)} pp would hardly show with so many tasks (80 % power)`;
}

function isNone(difference: number): boolean {
  return Math.abs(difference) < 1e-9;
}
