import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { FEWEST_TASKS } from '../stats/population-difference.ts';
import { type Calibration, replayVerdicts } from '../stats/replay-verdicts.ts';
import { resultsOfRun } from './sequential.ts';
import { requirePassRates, taskCounts } from './task-values.ts';

/** What the verdicts of a suite are worth, for one arm. `calibration` is `null` where it has fewer than four tasks. */
export type ArmCalibration = {
  agent: string;
  variant: string;
  /** Tasks with a result, and their trials on average. */
  tasks: number;
  trials: number;
  calibration: Calibration | null;
};

/** Replays each arm of a run against itself, from its stored trials. */
export function calibrateRun(
  { manifest, rows }: { manifest: Manifest; rows: readonly CaseRow[] },
  { effect, replays }: { effect: number; replays: number },
): ArmCalibration[] {
  requirePassRates(manifest);
  const cases = resultsOfRun(manifest, rows);
  return [...Map.groupBy(cases, (one) => JSON.stringify([one.agent_name, one.variant]))].flatMap(
    ([seed, ofArm]) => {
      const [first] = ofArm;
      const counts = [...taskCounts(ofArm).values()];
      if (!first) return [];
      const trials = counts.reduce((total, one) => total + one.trials, 0) / Math.max(1, counts.length);
      const calibration =
        counts.length < FEWEST_TASKS ? null : replayVerdicts(counts, { effect, replays, seed });
      return [{ agent: first.agent_name, variant: first.variant, tasks: counts.length, trials, calibration }];
    },
  );
}
