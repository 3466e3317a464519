import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import type { OutcomeCounts } from './summary.ts';

/** A planned case and its row. `row` is `null` while the case has no result. */
export type CaseResult = Manifest['case_matrix'][number] & { row: CaseRow | null };

/** The planned cases in plan order, each with its last row: a resumed run may have two. Other rows are left out. */
export function caseResults(manifest: Manifest, rows: readonly CaseRow[]): CaseResult[] {
  const byId = new Map(rows.map((row) => [row.case_id, row]));
  return manifest.case_matrix.map((planned) => ({ ...planned, row: byId.get(planned.case_id) ?? null }));
}

/** Whether an eval ended itself with `t.skip`: then there is nothing to count, and nothing is missing. */
export const isSkipped = ({ row }: Pick<CaseResult, 'row'>): boolean => row?.outcome === 'skipped';

/** The number of cases with each outcome. */
export function countOutcomes(cases: readonly CaseResult[]): OutcomeCounts {
  const count = (outcome: CaseRow['outcome'] | undefined) =>
    cases.filter((one) => one.row?.outcome === outcome).length;
  return {
    ...{ passed: count('passed'), failed: count('failed'), error: count('error') },
    ...{ skipped: count('skipped'), missing: count(undefined) },
  };
}

export type TaskCount = { passed: number; trials: number };

/**
 * Passed trials and trials of each task, by task id. Trials without a result are left out, unless `asPassed` says what
 * they count as. Skipped trials never count. Tasks without a trial are left out.
 */
export function taskCounts(cases: readonly CaseResult[], asPassed?: boolean): Map<string, TaskCount> {
  const counts = new Map<string, TaskCount>();
  for (const { task_id, row } of cases) {
    if (isSkipped({ row })) continue;
    const hasResult = row !== null && row.outcome !== 'error';
    const isPassed = hasResult ? row.outcome === 'passed' : asPassed;
    if (isPassed === undefined) continue;
    const count = counts.get(task_id) ?? { passed: 0, trials: 0 };
    count.trials++;
    if (isPassed) count.passed++;
    counts.set(task_id, count);
  }
  return counts;
}
