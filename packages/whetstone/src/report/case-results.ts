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

/** The number of cases with each outcome. */
export function countOutcomes(cases: readonly CaseResult[]): OutcomeCounts {
  const count = (outcome: CaseRow['outcome'] | undefined) =>
    cases.filter((one) => one.row?.outcome === outcome).length;
  const [passed, failed, error] = [count('passed'), count('failed'), count('error')];
  return { passed, failed, error, missing: count(undefined) };
}

type TaskCount = { passed: number; counted: number };

/** Passed and counted trials of each task, by task id. Tasks without a counted trial are left out. */
export function taskCounts(cases: readonly CaseResult[]): Map<string, TaskCount> {
  const counts = new Map<string, TaskCount>();
  for (const { task_id, row } of cases) {
    if (row === null || row.outcome === 'error') continue;
    const count = counts.get(task_id) ?? { passed: 0, counted: 0 };
    count.counted++;
    if (row.outcome === 'passed') count.passed++;
    counts.set(task_id, count);
  }
  return counts;
}
