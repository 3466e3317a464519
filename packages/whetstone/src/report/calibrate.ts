import { present } from '@whetstone/events/present';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { FEWEST_TASKS } from '../stats/population-difference.ts';
import { type Calibration, replayVerdicts } from '../stats/replay-verdicts.ts';
import { armsOf } from './compare-arms.ts';
import { compareVariants } from './compare-variants.ts';
import { resultsOfRun } from './sequential.ts';
import type { Comparison } from './summary.ts';
import { describeMetric, requirePassRates, taskCounts } from './task-values.ts';

/** What the verdicts of a suite are worth, for one arm. `calibration` is `null` where it has fewer than four tasks. */
export type ArmCalibration = {
  agent: string;
  variant: string;
  /** Tasks with a result, and their trials on average. */
  tasks: number;
  trials: number;
  calibration: Calibration | null;
};

/**
 * Replays each arm of a run against itself, from its stored trials. With `perSide`, the trials themselves are dealt to the two
 * sides; a task without twice as many results is left out.
 */
export function calibrateRun(
  { manifest, rows }: { manifest: Manifest; rows: readonly CaseRow[] },
  { effect, replays, perSide }: { effect: number; replays: number; perSide?: number },
): ArmCalibration[] {
  requirePassRates(manifest);
  const cases = resultsOfRun(manifest, rows);
  return [...Map.groupBy(cases, (one) => JSON.stringify([one.agent_name, one.variant]))].flatMap(
    ([seed, ofArm]) => {
      const [first] = ofArm;
      const counts = [...taskCounts(ofArm).values()].filter(({ trials }) => trials >= 2 * (perSide ?? 0));
      if (!first) return [];
      const trials = counts.reduce((total, one) => total + one.trials, 0) / Math.max(1, counts.length);
      const calibration =
        counts.length < FEWEST_TASKS
          ? null
          : replayVerdicts(counts, { effect, replays, seed, ...present({ perSide }) });
      return [{ agent: first.agent_name, variant: first.variant, tasks: counts.length, trials, calibration }];
    },
  );
}

/** Each arm against itself: its trials with odd numbers against those with even ones, which ran side by side. */
export function compareWithItself({
  manifest,
  rows,
}: {
  manifest: Manifest;
  rows: readonly CaseRow[];
}): Comparison[] {
  const metric = describeMetric('pass_rate', manifest.trials);
  const cases = resultsOfRun(manifest, rows);
  const half = (parity: number) =>
    armsOf(
      cases.filter((one) => one.trial_index % 2 === parity),
      metric.kind,
    );
  const even = half(0);
  const pairs = half(1).flatMap((baseline, i) => {
    const variant = even[i];
    return variant ? [{ variant, baseline, metric }] : [];
  });
  // Each is one question of its own, so that none is corrected for the others.
  return pairs.flatMap((pair) => compareVariants([pair]));
}
