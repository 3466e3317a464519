import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import type { Summary } from '../report/summary.ts';

/**
 * What the web page asks of the server, all of it `GET` and JSON. Names and texts are as the run has them: whoever
 * shows them treats them as hostile. Errors are `{ error }` with a status from 400.
 *
 * - `/api/runs` → `RunList`
 * - `/api/runs/:run` → `RunDetail`
 * - `/api/runs/:run/cases/:case` → `CaseDetail`
 * - `/api/runs/:run/cases/:case/:file` → `CaseFile`
 */
export type RunList = {
  /** The newest first. */
  runs: RunEntry[];
  /** Runs that are there and not listed. */
  older: number;
};

/** `id` is the name of the run directory. */
export type RunEntry = ReadableRun | { id: string; problem: string };

export type ReadableRun = {
  id: string;
  problem: null;
  created_at: string;
  state: RunState;
  headline: string;
  cases: Summary['cases'];
  agents: string[];
  variants: string[];
};

/** `running`: a live process holds the run. `stopped`: none does, and cases are missing. */
export type RunState = 'running' | 'finished' | 'stopped';

export type RunDetail = {
  id: string;
  state: RunState;
  /** Without the lists of cases, which `cases` has with what they came to. */
  manifest: Omit<Manifest, 'order' | 'case_matrix'>;
  summary: Summary;
  /** In planned order. */
  cases: CaseEntry[];
};

/** `outcome` is `null` while the case has no result. */
export type CaseEntry = {
  case_id: string;
  agent_name: string;
  task_id: string;
  variant: string;
  trial_index: number;
  outcome: CaseRow['outcome'] | null;
};

export type CaseDetail = {
  run: string;
  state: RunState;
  planned: CaseEntry;
  /** `null` while the case has no result. At most 1,000 `touched_paths`. */
  row: CaseRow | null;
  files: CaseFileEntry[];
};

export type CaseFileEntry = { name: CaseFileName; bytes: number };

/** The number of a validation log is the index of its command in the row's `validation_results`. */
export type CaseFileName =
  | 'prompt'
  | 'patch'
  | 'answer'
  | 'events'
  | 'model-calls'
  | 'stdout'
  | 'stderr'
  | `validation-${number}-${'stdout' | 'stderr'}`;

/** A file, at most 1 MiB of it: the beginning of texts, the end of logs, both of JSON lines. */
export type CaseFile = CaseFileEntry & {
  head: string;
  /** Bytes left out between `head` and `tail`. */
  omitted_bytes: number;
  tail: string;
};
