import { dirname } from 'node:path';
import { readAudits } from '../record/audits.ts';
import { readRun, rowsInOrder, type StoredRun } from '../record/read-run.ts';
import type { CaseRow } from '../record/row.ts';
import { writeDerived, writeResults } from '../record/run-record.ts';
import { renderMarkdown } from '../report/markdown.ts';
import { summarize } from '../report/summarize.ts';
import type { Summary } from '../report/summary.ts';

/** A run with its summary. `ordered`: the rows in planned order. */
export type ReportedRun = StoredRun & { summary: Summary; ordered: CaseRow[] };

/** Writes `summary.json` and `report.md` from the rows. */
export async function writeReport(run: StoredRun): Promise<ReportedRun> {
  const audits = run.audits ?? (await readAudits(dirname(run.directory)));
  const reported = reportRun({ ...run, audits });
  const { manifest, summary, ordered } = reported;
  await writeDerived(run, 'summary', `${JSON.stringify(summary, null, 2)}\n`);
  await writeDerived(run, 'report', renderMarkdown(summary, manifest, ordered, run.directory));
  return reported;
}

/** Computes the summary of a run from its rows. Writes nothing. */
export function reportRun({ directory, manifest, rows, audits = [] }: StoredRun): ReportedRun {
  const ordered = rowsInOrder({ manifest, rows });
  return { directory, manifest, rows, summary: summarize(manifest, ordered, audits), ordered };
}

/**
 * Rebuilds `results.jsonl`, `summary.json` and `report.md` from the journal of a run.
 * @throws WhetstoneError `run-not-found`, `run-unreadable`, and those of a directory that cannot be written.
 */
export async function rebuildReport(directory: string): Promise<ReportedRun> {
  const stored = await readRun(directory);
  await writeResults(stored);
  return writeReport(stored);
}
