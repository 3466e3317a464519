import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import type { OutcomeCounts } from './summary.ts';

/** A planned case and its row. `row` is `null` while the case has no result. */
export type CaseResult = Manifest['case_matrix'][number] & {
  row: CaseRow | null;
  /** Why it did not run: another trial of the same work had passed (early exit), or the run ended at a look before it. */
  notRun: 'passed' | 'look' | null;
  /** The share of its points that it got, from 0 to 1; `undefined` where it is not known. */
  share: number | undefined;
};

/** The planned cases in plan order, each with its last row: a resumed run may have two. Other rows are left out. */
export function caseResults(manifest: Manifest, rows: readonly CaseRow[]): CaseResult[] {
  const byId = new Map(rows.map((row) => [row.case_id, row]));
  const matrix = manifest.case_matrix.map((planned) => ({
    ...planned,
    row: byId.get(planned.case_id) ?? null,
  }));
  const passedCells = new Set(
    matrix.filter(({ row }) => manifest.early_exit && row?.outcome === 'passed').map(cellOf),
  );
  const points = new Map<string, number>();
  for (const { task_id, row } of matrix) {
    points.set(task_id, Math.max(points.get(task_id) ?? 0, row?.max_score ?? 0));
  }
  return matrix.map((one) => ({
    ...one,
    notRun: one.row === null && passedCells.has(cellOf(one)) ? ('passed' as const) : null,
    share: shareOf(one.row, points.get(one.task_id) ?? 0),
  }));
}

const cellOf = (one: { agent_name: string; task_id: string; variant: string }): string =>
  JSON.stringify([one.agent_name, one.task_id, one.variant]);

/**
 * A case that was graded for less points than another one of its task stopped before the end, or an assertion of it could
 * not be evaluated: its score is not known.
 */
function shareOf(row: CaseRow | null, points: number): number | undefined {
  if (row === null || (row.outcome !== 'passed' && row.outcome !== 'failed')) return undefined;
  const { score, max_score: most, assertions = [] } = row;
  if (score === undefined || most === undefined || most < points) return undefined;
  const isOpen = assertions.some((one) => one.points !== undefined && one.status === 'unavailable');
  return isOpen ? undefined : score / most;
}

/** Whether an eval ended itself with `t.skip`: then there is nothing to count, and nothing is missing. */
export const isSkipped = ({ row }: Pick<CaseResult, 'row'>): boolean => row?.outcome === 'skipped';

/** The number of cases with each outcome. */
export function countOutcomes(cases: readonly CaseResult[]): OutcomeCounts {
  const count = (outcome: CaseRow['outcome']) => cases.filter((one) => one.row?.outcome === outcome).length;
  const notRun = cases.filter(({ notRun }) => notRun).length;
  return {
    ...{ passed: count('passed'), failed: count('failed'), error: count('error') },
    ...{ skipped: count('skipped'), not_run: notRun },
    missing: cases.filter(({ row }) => row === null).length - notRun,
  };
}
