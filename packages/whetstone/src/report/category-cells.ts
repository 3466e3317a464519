import type { CaseRow } from '../record/row.ts';
import type { CategoryCell, Cell, OutcomeCounts } from './summary.ts';

/** The cells of the tasks of each category, added up. See `Summary.categories`. */
export function categoryCells(cells: readonly Cell[], rows: readonly CaseRow[]): CategoryCell[] {
  const categories = new Map(
    rows.flatMap(({ task_id, category }) => (category ? [[task_id, category]] : [])),
  );
  if (new Set(categories.values()).size < 2) return [];
  const sums = new Map<string, CategoryCell>();
  for (const { task, agent, variant, ...counts } of cells) {
    const category = categories.get(task) ?? null;
    const key = JSON.stringify([category, agent, variant]);
    const sum = sums.get(key);
    sums.set(key, { agent, category, variant, ...(sum ? added(sum, counts) : counts) });
  }
  return [...sums.values()];
}

const added = (a: OutcomeCounts, b: OutcomeCounts): OutcomeCounts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  error: a.error + b.error,
  skipped: a.skipped + b.skipped,
  not_run: a.not_run + b.not_run,
  missing: a.missing + b.missing,
});
