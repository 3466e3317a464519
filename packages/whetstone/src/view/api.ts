import type { ReadableExchange } from '@whetstone/gateway';
import type { LabelAgreement } from '../eval/agreement/label-agreement.ts';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import type { Summary } from '../report/summary.ts';

/**
 * The HTTP API that the web page uses: JSON. Names and texts are as in the run, so the page must
 * treat them as hostile. Errors are `{ error }` with a status of 400 or more.
 *
 * - `/api/runs` → `RunList`
 * - `/api/runs/:run` → `RunDetail`
 * - `/api/runs/:run/cases/:case` → `CaseDetail`
 * - `/api/runs/:run/cases/:case/:file` → `CaseFile`
 * - `/api/compare?a=RUN&arm-a=ARM&b=RUN&arm-b=ARM` → `RunComparison`; without an arm the whole run
 * - `/api/runs/:run/cases/:case/:file/raw` → its bytes, or the range of them that the request asks for
 * - `/api/runs/:run/cases/:case/patch/files/:index` → `ChangedFile`
 * - `/api/runs/:run/cases/:case/source?path=PATH&line=N` → `SourceLines`, or `null` where there is no such line
 * - `/api/runs/:run/cases/:case/exchanges/:call?compare-as=FAMILY` → `CallBodies`; without `compare-as` as it was
 * - `/api/runs/:run/cases/:case/exchanges/:call/request`, `/reply` → a body as it was kept
 * - `/api/runs/:run/labels` → `RunLabels`
 * - `/api/live?run=RUN` → server-sent events: `changed` when the results are others than before, `activity` with an `Activity`
 *   or `null`; without a run, `changed` about all of them
 * - `/api/project` → `ProjectState`
 *
 * Each `POST` also needs the header `x-whetstone-key` and an `Origin`, and has a JSON body:
 *
 * - `/api/config/check`, `/api/config/preflight` `{ text }` → what `whetstone validate-config --json` prints
 * - `/api/config/preview` `{ text, selection }` → what `whetstone run --dry-run --json` prints
 * - `/api/config/save` `{ text, revision }` → `ConfigText`
 * - `/api/jobs/start` `Selection` → `Job`
 * - `/api/jobs/:job/stop` → `Job`
 * - `/api/runs/:run/cases/:case/label` `{ human, note }` → `RunLabels`; `human: null` takes the label away
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
  | 'exchanges'
  | 'stdout'
  | 'stderr'
  | `validation-${number}-${'stdout' | 'stderr'}`;

/** At most 1 MiB of a file: the beginning of texts, the end of logs, both ends of JSON lines. `exchanges` has no text. */
export type CaseFile = CaseFileEntry & {
  head: string;
  /** Bytes left out between `head` and `tail`. */
  omitted_bytes: number;
  tail: string;
};

/**
 * A model call with what was in it. A text that is too long is cut, and `cut` says by how many characters. `request_omitted`,
 * `reply_omitted`: bytes at the end of a body that were not kept.
 */
export type CallBodies = ReadableExchange & {
  id: string;
  request_characters: number | null;
  request_omitted: number;
  reply_characters: number | null;
  reply_omitted: number;
  cut: number;
};

/**
 * The text of the file of that index in the patch, before the agent and after it; `null` where there was no such file. At most
 * 1 MiB of each. `problem`: why there is none.
 */
export type ChangedFile =
  | { problem: null; before: string | null; after: string | null; cut: number }
  | { problem: string };

/** Lines of a file as the agent left it, around `line`; `first`: the number of the first one, from 1. */
export type SourceLines = { path: string; line: number; first: number; lines: string[] };

/** What people said about cases of a run, and how far its judge agrees with them. */
export type RunLabels = {
  labels: { id: string; human: 'passed' | 'failed'; note?: string; at: string }[];
  /** `null`: there are too few labels, or no judge; `problem` says which. */
  agreement: LabelAgreement | null;
  problem: string | null;
};

export type ConfigText = {
  path: string;
  text: string;
  revision: string /** TypeScript, which is not edited here. */;
  is_code: boolean;
};

export type ProjectState = {
  /** `null`: there is no configuration. */
  config: ConfigText | null;
  name: string | null;
  /** The newest first. */
  jobs: Job[];
};

/** A run that was started from the page. */
export type Job = {
  id: string;
  arguments: string[];
  started_at: string;
  state: 'running' | 'ended';
  is_stopping: boolean;
  exit_code: number | null;
  /** The id of its run; `null` as long as it has none. */
  run: string | null;
  /** The last lines that it printed. */
  output: string[];
};

/** What a run does now, and what it has cost so far. */
export type Activity = {
  finished: number;
  planned: number;
  /** US dollars of all cases so far, running ones included; `null`: not known of any. `cost_unknown`: cases without it. */
  cost_usd: number | null;
  cost_unknown: number;
  tokens: number | null;
  tokens_unknown: number;
  /** The cases that have started and have no result, in planned order. */
  running: RunningCase[];
};

export type RunningCase = {
  case_id: string;
  agent_name: string;
  task_id: string;
  variant: string;
  trial_index: number;
  /** The last thing that its agent did, as `shell npm test`; `null`: nothing yet. */
  doing: string | null;
  /** When it did that, ISO 8601. */
  at: string | null;
  tool_calls: number;
  /** As the gateway saw them; `null` where no gateway sees them. */
  model_calls: number | null;
  tokens: number | null;
  cost_usd: number | null;
};
