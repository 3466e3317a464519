import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import type { Summary } from '../report/summary.ts';

/**
 * The HTTP API that the web page uses: only `GET`, only JSON. Names and texts are as in the run, so the page must
 * treat them as hostile. Errors are `{ error }` with a status of 400 or more.
 *
 * - `/api/runs` → `RunList`
 * - `/api/runs/:run` → `RunDetail`
 * - `/api/runs/:run/cases/:case` → `CaseDetail`
 * - `/api/runs/:run/cases/:case/:file` → `CaseFile`
 * - `/api/compare?a=RUN&arm-a=ARM&b=RUN&arm-b=ARM` → `RunComparison`; without an arm the whole run
 * - `/api/runs/:run/cases/:case/:file/raw` → its bytes, or the range of them that the request asks for
 */
export type RunList = {
  /** The newest run first. */
  runs: RunEntry[];
  /** Number of runs that exist but are not listed. */
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
  /** What a person called the run, and noted about it. */
  tags: string[];
  note: string | null;
};

/** `running`: a live process works on the run. `stopped`: no process does, and cases are missing. */
export type RunState = 'running' | 'finished' | 'stopped';

export type RunDetail = {
  id: string;
  state: RunState;
  tags: string[];
  note: string | null;
  /** Without the lists of cases, because `cases` has them with their results. */
  manifest: Omit<Manifest, 'order' | 'case_matrix'>;
  /** Without what `cases` has. */
  summary: Omit<Summary, 'cells' | 'failures'>;
  /** The classes of what did not pass, with their titles and counts, the most frequent first. */
  failures: Pick<Summary['failures'][number], 'class' | 'title' | 'count'>[];
  cases: CaseTable;
};

/** All cases of a run in planned order, small enough for tens of thousands. */
export type CaseTable = {
  /** Each text once; a line has its index. */
  texts: string[];
  lines: CaseLine[];
};

/** Names and evidence are indices of `texts`. */
export type CaseLine = [
  case_id: string,
  agent: number,
  task: number,
  variant: number,
  trial: number,
  outcome: CaseEntry['outcome'],
  failure_class: number | null,
  evidence: number | null,
  agent_seconds: number | null,
  total_tokens: number | null,
  cost_usd: number | null,
];

/** `outcome` is `null` while the case has no result. `not_run`: another trial of the same work had passed (early exit). */
export type CaseEntry = Omit<Manifest['case_matrix'][number], 'block' | 'fingerprint'> & {
  outcome: CaseRow['outcome'] | 'not_run' | null;
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

/** The number of a validation log is the index of its command in `validation_results` of the row. */
export type CaseFileName =
  | 'prompt'
  | 'patch'
  | 'answer'
  | 'events'
  | 'model-calls'
  | 'stdout'
  | 'stderr'
  | `validation-${number}-${'stdout' | 'stderr'}`;

/** At most 1 MiB of a file: the beginning of texts, the end of logs, both ends of JSON lines. */
export type CaseFile = CaseFileEntry & {
  head: string;
  /** Bytes left out between `head` and `tail`. */
  omitted_bytes: number;
  tail: string;
};
