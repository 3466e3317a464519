import { holm } from '../stats/holm.ts';
import { pairedDifference } from '../stats/paired-difference.ts';
import { FEWEST_TASKS, minimumDetectableDifference, tasksNeeded } from '../stats/power.ts';
import { signFlipTest } from '../stats/sign-flip.ts';
import { type CaseResult, taskCounts } from './case-results.ts';
import { decideVerdict, explainVerdict, isSignificant, type Measured } from './comparison-verdict.ts';
import type { Arm, Comparison } from './summary.ts';

/** An arm with its planned cases. */
export type ArmCases = { arm: Arm; cases: readonly CaseResult[] };

/** Compares the variants of one agent with its baseline, paired by task. */
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
    const verdict = decideVerdict(one, adjustedPValue);
    const needed = isSignificant(one, adjustedPValue) ? null : neededTasks(one);
    return {
      ...comparison,
      adjusted_p_value: adjustedPValue,
      tasks_needed: needed,
      verdict,
      sentence: `${verdict}: ${explainVerdict({ measured: one, adjustedPValue, verdict, needed, compared: variants.length })}`,
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

/** Tasks that a difference of this size needs. At least one more than there are, because these did not settle it. */
function neededTasks({ difference, standardDeviation, tasks }: Measured): number | null {
  const isNone = difference === null || Math.abs(difference) < 1e-9;
  if (isNone || standardDeviation === null) return null;
  return Math.max(tasks + 1, tasksNeeded(difference, standardDeviation));
}
