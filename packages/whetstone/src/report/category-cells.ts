import type { CaseRow } from '../record/row.ts';
import { UNKNOWN } from './format.ts';
import type { Cell, OutcomeCounts } from './summary.ts';

/**
 * The cells of the tasks of one category, added up, with the category in place of the task. Empty where fewer than two
 * categories are known. Tasks without one, or of which no case has finished, are together.
 */
export function categoryCells(cells: readonly Cell[], rows: readonly CaseRow[]): Cell[] {
  const categories = new Map(
    rows.flatMap(({ task_id, category }) => (category ? [[task_id, category]] : [])),
  );
  if (new Set(categories.values()).size < 2) return [];
  const sums = new Map<string, Cell>();
  for (const { task, agent, variant, ...counts } of cells) {
    const category = categories.get(task) ?? UNKNOWN;
    const key = JSON.stringify([category, agent, variant]);
    const sum = sums.get(key);
    sums.set(key, { agent, variant, task: category, ...(sum ? added(sum, counts) : counts) });
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
