import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { isFutile } from '../stats/group-sequential.ts';
import { normalQuantile } from '../stats/normal.ts';
import { type CaseResult, caseResults } from './case-results.ts';
import { armsOf, compareArms } from './compare-arms.ts';
import type { Comparison, Sequential } from './summary.ts';
import { describeMetric, metricOf } from './task-values.ts';

/** How far a sequential run has come, and what its comparisons are. */
export type SequentialState = Sequential & { comparisons: Comparison[]; analysed: ReadonlySet<string> };

/**
 * Takes the looks of a sequential run whose tasks have finished, in order. A comparison is decided by the first look at which
 * its variant is better or worse, and keeps the numbers of that look. The run ends when all are decided, or none of the others
 * has a chance left. A declared equivalence can only be shown by the last look, so that there is then no early end without
 * a difference. `null`: not a sequential run.
 */
export function sequentialState(manifest: Manifest, cases: readonly CaseResult[]): SequentialState | null {
  const { looks } = manifest;
  if (!looks) return null;
  const kind = metricOf(manifest);
  const metric = describeMetric(kind, manifest.trials);
  const planned = looks.flatMap(({ tasks }) => tasks).length;
  const state = { looks: looks.length, done: 0, planned_tasks: planned, ended: null as Sequential['ended'] };
  const analysed = new Set<string>();
  const decided = new Map<string, Comparison>();
  let comparisons: Comparison[] = [];
  for (const { tasks, alpha } of looks) {
    const ofLook = cases.filter((one) => tasks.includes(one.task_id));
    if (ofLook.some(({ row }) => row === null)) break;
    for (const task of tasks) analysed.add(task);
    state.done += 1;
    const isLast = state.done === looks.length;
    const seen = cases.filter((one) => analysed.has(one.task_id));
    const margin = isLast ? manifest.equivalence : undefined;
    comparisons = compareArms(armsOf(seen, kind), manifest, { metric, alpha, margin });
    for (const one of comparisons) {
      if ((one.verdict === 'better' || one.verdict === 'worse') && !decided.has(keyOf(one))) {
        decided.set(keyOf(one), one);
      }
    }
    const open = comparisons.filter((one) => !decided.has(keyOf(one)));
    const share = analysed.size / planned;
    if (isLast || comparisons.length === 0) continue;
    if (open.length === 0) state.ended = 'decided';
    else if (manifest.equivalence === undefined && open.every((one) => hasNoChance(one, share))) {
      state.ended = 'futile';
    }
    if (state.ended) break;
  }
  return {
    ...state,
    analysed_tasks: analysed.size,
    analysed,
    comparisons: comparisons.map((one) => decided.get(keyOf(one)) ?? one),
  };
}

const keyOf = ({ agent, pooled, variant }: Comparison): string =>
  JSON.stringify([agent, pooled ?? false, variant]);

function hasNoChance({ p_value: p }: Comparison, share: number): boolean {
  return p !== null && isFutile(p === 0 ? Number.POSITIVE_INFINITY : normalQuantile(1 - p / 2), share);
}

/** The planned cases of a run with their results. What a sequential run left out when it ended is marked as not run. */
export function resultsOfRun(manifest: Manifest, rows: readonly CaseRow[]): CaseResult[] {
  const cases = caseResults(manifest, rows);
  const state = sequentialState(manifest, cases);
  if (!state?.ended) return cases;
  return cases.map((one) =>
    one.row === null && !state.analysed.has(one.task_id) ? { ...one, notRun: 'look' as const } : one,
  );
}
