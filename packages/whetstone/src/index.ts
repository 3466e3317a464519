/** The public surface of `whetstone` as a library: read a configuration, run it, read runs back. */

export type { Config } from './config/config.ts';
export { ConfigErrors, type Diagnostic } from './config/diagnostic.ts';
export { formatDiagnostics } from './config/format-diagnostics.ts';
export { type LoadedConfig, type LoadOptions, loadConfig } from './config/load-config.ts';
export type { Plan, PlannedCase, Selection } from './plan/plan.ts';
export { planRun } from './plan/plan-run.ts';
export { findRun } from './record/find-run.ts';
export type { Manifest } from './record/manifest.ts';
export { type ReadRun, readRun, rowsInOrder, type StoredRun } from './record/read-run.ts';
export type { CaseRow } from './record/row.ts';
export { summarize } from './report/summarize.ts';
export type { Arm, Comparison, Summary } from './report/summary.ts';
export { type RunOptions, type RunResult, run } from './run/run.ts';
export type { RunEvent } from './run/run-event.ts';
export { type ReportedRun, rebuildReport } from './run/write-report.ts';

// Write evals and experiments: docs/evals.md.

export * from './eval/authoring.ts';
