import { runLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { readRun, rowsInOrder, type StoredRun, writeResults, writeWhole } from '../record/run-record.ts';
import { renderMarkdown } from '../report/markdown.ts';
import { summarize } from '../report/summarize.ts';
import type { Summary } from '../report/summary.ts';

/** A run with the numbers that derive from it. */
export type ReportedRun = StoredRun & { summary: Summary; ordered: CaseRow[] };

/** Writes `summary.json` and `report.md` from the rows. */
export async function writeReport(run: StoredRun): Promise<ReportedRun> {
  const ordered = rowsInOrder(run);
  const summary = summarize(run.manifest, ordered);
  const layout = runLayout(run.directory);
  await writeWhole(layout.summary, `${JSON.stringify(summary, null, 2)}\n`);
  await writeWhole(layout.report, renderMarkdown(summary, run.manifest, ordered));
  return { directory: run.directory, manifest: run.manifest, rows: run.rows, summary, ordered };
}

/** Rebuilds everything that derives from a run's journal: results, summary, report. */
export async function rebuildReport(directory: string): Promise<ReportedRun> {
  const stored = await readRun(directory);
  await writeResults(stored);
  return writeReport(stored);
}
