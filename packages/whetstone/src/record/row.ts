import { z } from 'zod';
import { exposureSchema } from './exposure-schema.ts';

/**
 * Why a case did not pass, decided from evidence (wire status, exit, kill reason), never from what the agent says. A
 * `failed` case is a result of the agent; an `error` is missing data. docs/results.md has a sentence for each.
 */
export const failureClasses = {
  failed: ['agent', 'timeout', 'limit', 'budget', 'policy', 'cheating'],
  error: ['task', 'verifier', 'harness', 'sandbox', 'provider-limit', 'provider-outage', 'tampered'],
} as const;

/** A class of `failed`. */
export type AgentFailure = (typeof failureClasses.failed)[number];
/** A class of `error`. */
export type InfrastructureFailure = (typeof failureClasses.error)[number];
export type FailureClass = AgentFailure | InfrastructureFailure;

const commandResultSchema = z.object({
  command: z.string(),
  exit_code: z.number().int(),
  duration_seconds: z.number(),
  ended: z.enum(['exit', 'timeout', 'abort']),
  /** Relative to the directory of the case. */
  stdout_path: z.string(),
  stderr_path: z.string(),
});

const hardCheckSchema = z.object({
  name: z.string(),
  status: z.enum(['passed', 'failed', 'skipped']),
  evidence: z.string(),
});

export const masksSchema = z.object({
  tests: z.number().int(),
  slots: z.number().int(),
  literal: z.number().int(),
  rounds: z.number().int(),
});

const assertionSchema = z.object({
  name: z.string(),
  label: z.string().optional(),
  group: z.string().optional(),
  severity: z.enum(['gate', 'soft']),
  optional: z.boolean(),
  status: z.enum(['passed', 'failed', 'unavailable']),
  score: z.number().optional(),
  threshold: z.number().optional(),
  points: z.number().optional(),
  message: z.string(),
  /** `events`: indices of lines of `events.jsonl`, from 0, at most 20 of them. */
  evidence: z.object({ events: z.array(z.number().int()), text: z.string().optional() }),
  at: z.object({ file: z.string(), line: z.number().int(), column: z.number().int() }).optional(),
});

/** One row of `results.jsonl`: one case. Seconds and US dollars; `null` means "unknown", never zero. */
export const caseRowSchema = z.object({
  schema_version: z.literal('1'),
  whetstone_version: z.string(),
  run_id: z.string(),
  case_id: z.string(),
  fingerprint: z.string(),
  agent_name: z.string(),
  agent_kind: z.string(),
  task_id: z.string(),
  category: z.string().nullable(),
  difficulty: z.string().nullable(),
  variant: z.string(),
  /** Counted from 1. */
  trial_index: z.number().int().positive(),
  /** Commit SHA of the base tree. */
  repo_ref: z.string(),
  /**
   * What was enforced: `open` in the process sandbox, whatever the agent's profile declares. `provider-tools`: only the
   * model, but the gateway allowed tools of its provider, such as web search; `open, provider-tools`: both.
   */
  network: z.string(),

  /** `skipped`: an eval ended itself with `t.skip`; `evidence` is its reason. Such a case is in no rate. */
  outcome: z.enum(['passed', 'failed', 'error', 'skipped']),
  failure_class: z.enum([...failureClasses.failed, ...failureClasses.error]).nullable(),
  evidence: z.string().nullable(),
  /** context-eval's status, derived from the outcome. */
  status: z.enum([
    'completed',
    'validation_failed',
    'agent_failed',
    'timeout',
    'overlay_failed',
    'workspace_failed',
    'internal_error',
  ]),
  /** `low`: nothing verified the work. */
  confidence: z.enum(['high', 'medium', 'low']),

  /** `null` only where the case was imported and its source does not say. So is `duration_seconds`. */
  started_at: z.string().nullable(),
  /** From the first step of the case to the last. */
  duration_seconds: z.number().nullable(),
  /** Only the turns of the agent. */
  agent_duration_seconds: z.number().nullable(),
  /** CPU time of all commands in the sandbox of the agent: setup, services and the agent. The clean room does not count. */
  cpu_seconds: z.number().nullable().default(null),
  /** The most memory that these commands had at once, files in memory included. */
  peak_memory_bytes: z.number().int().nullable().default(null),
  agent_exit_code: z.number().int().nullable(),
  timeout: z.boolean(),

  validation_status: z.enum(['passed', 'failed', 'skipped']),
  validation_results: z.array(commandResultSchema),
  hard_evaluation_status: z.enum(['not_configured', 'passed', 'failed']),
  hard_evaluation: z.array(hardCheckSchema),
  /** Protected paths that the agent changed. They were restored before verification. */
  protected_paths_touched: z.array(z.string()),

  /** With the two below: `null` where the changes were not read, as in a case that ended before its agent started. */
  changed_files: z.number().int().nullable(),
  insertions: z.number().int().nullable(),
  deletions: z.number().int().nullable(),
  touched_paths: z.array(z.string()),
  unportable_paths: z.array(z.string()),

  /** `gateway`: counted on the wire. `agent`: reported by the agent. Attempts that were retried count as well. */
  usage_source: z.enum(['gateway', 'agent', 'none']),
  input_tokens: z.number().int().nullable(),
  output_tokens: z.number().int().nullable(),
  cache_read_tokens: z.number().int().nullable(),
  cache_write_tokens: z.number().int().nullable(),
  reasoning_tokens: z.number().int().nullable(),
  total_tokens: z.number().int().nullable(),
  cost_usd: z.number().nullable(),
  model_calls: z.number().int().nullable(),
  tool_calls: z.number().int().nullable(),
  tool_calls_by_name: z.record(z.string(), z.number().int()).nullable().default(null),
  /** How many of the tool calls ran a shell command. */
  command_call_count: z.number().int().nullable().default(null),
  /** As a telemetry file says, like `reported_duration_seconds`. */
  reasoning_step_count: z.number().int().nullable().default(null),
  /** The duration that the agent reports; `agent_duration_seconds` is measured. */
  reported_duration_seconds: z.number().nullable().default(null),
  models: z.array(z.string()),
  telemetry_status: z.enum(['unavailable', 'collected', 'partial', 'error']),
  telemetry_gaps: z.array(z.string()),

  /** Retries of this case after infrastructure errors, before this row. */
  retries: z.number().int().nonnegative(),
});

/** A row as it is stored: with the fields that only some cases have, which are not columns of a table. */
export const keptRowSchema = caseRowSchema.extend({
  /**
   * Only where commands or tests of the task ran. `exit-codes`: a weak verdict, because code under test can end its process with
   * 0. `test-report`: each expected test had to be in the report of its runner as passed. `masked-tests`: and each secretly
   * changed expectation as failed.
   */
  judged_by: z.enum(['exit-codes', 'test-report', 'masked-tests']).optional(),
  /**
   * Only where tests were masked: how many tests an expectation could be changed in, how many had a changed one in one of two
   * runs, how many of those changes were to a literal, and how many pairs of runs there were.
   */
  masks: masksSchema.optional(),
  /** Only where tests ran as they are: why they were not masked. Rows of older versions have none. */
  unmasked: z.string().optional(),
  /** How kept artifacts differ from what the agent left: secrets that were masked, files that were left out. */
  artifact_notes: z.array(z.string()).optional(),
  /** The limits that the commands in the sandbox of the agent ran into. Absent: none. */
  limits_exceeded: z.array(z.enum(['memory', 'processes', 'disk'])).optional(),
  /** What the agent's case could take of the disk; `null`: nothing limited it. Absent in rows of older versions. */
  disk_limit_bytes: z.number().int().nullable().optional(),
  /** The most that was seen, four times a second; `null`: nobody measured. */
  peak_disk_bytes: z.number().int().nullable().optional(),
  /** A sentence about a service that ended beside the agent, with the last of its output. Absent: none did. */
  service_ended: z.string().optional(),
  /** Only where a canary of the hidden tests, or of the patch that solves the task, was where the agent could see or wrote it. */
  contaminated_by: z
    .array(z.object({ canary: z.string(), where: z.enum(['request', 'patch', 'events']) }))
    .optional(),
  /** sha256 of the files in the directory of the case with what happened, by name. Rows of older versions have none. */
  evidence_sha256: z.record(z.string(), z.string()).optional(),
  /**
   * The names that the commands in the sandbox of the agent asked a resolver for, none of which exists there. Absent where
   * nobody saw: the network was open.
   */
  names_asked: z.array(z.string()).optional(),
  /**
   * Only where the stored tree of the case was verified several times: how often, how often it passed, and how often the clean
   * room itself could not work. The outcome is that of the first verification.
   */
  verifications: z
    .object({
      runs: z.number().int().positive(),
      passed: z.number().int().nonnegative(),
      broken: z.number().int().nonnegative(),
    })
    .optional(),
  /**
   * What the commands in the sandbox of the agent asked the proxy of `sandbox.hosts` for, allowed or not. `by`: whose requests
   * they were, if not the agent's. Absent: no host was listed.
   */
  host_requests: z
    .array(
      z.object({
        host: z.string(),
        port: z.number().int(),
        count: z.number().int(),
        refused: z.string().optional(),
        by: z.literal('setup').optional(),
      }),
    )
    .optional(),
  /** The case has not run: this is the result of the same work in that run. */
  reused_from: z.object({ run_id: z.string(), case_id: z.string() }).optional(),
  /** What was wrong with the telemetry of the agent, such as the fields of its file that could not be read. */
  telemetry_error: z.string().optional(),
  /**
   * Only where a telemetry collector read the output of the agent as events, so that `stdout.log` of the case has them: the error
   * that they report, or `null`.
   */
  stream_error: z.string().nullable().optional(),
  /** With `--keep-workspace`: the copy of the workspace, relative to the directory of the case. */
  workspace_path: z.string().optional(),
  /** Only for a task with `soft_evaluation`: `soft-evaluation.json` of the case has what a reviewer needs. */
  soft_evaluation_status: z.literal('payload_generated').optional(),
  /** What the agent's profile declares of the network, which nothing enforces. */
  network_declared: z.string().optional(),
  /** Tools of the provider, and addresses that it would fetch, that the gateway removed, by type or field: the first 20. */
  stripped_tools: z.array(z.string()).optional(),
  /** Requests that the gateway refused because it does not serve their endpoint, as `POST /v1/files`: the first 20. */
  refused_endpoints: z.array(z.string()).optional(),
  /** Only for an agent with the user's login instead of a key. */
  auth: z.literal('login').optional(),
  /**
   * Only for an agent on a server of the user: nothing but the server knows its models, settings and state, so the same
   * configuration need not give the same result.
   */
  reproducibility: z.literal('external').optional(),
  /**
   * How much of `agent_duration_seconds` the agent only waited for its provider: in the gateway's queue, and between a
   * call that the provider failed and the next one. Absent below 0.1, and where no gateway saw the calls.
   */
  provider_wait_seconds: z.number().optional(),
  /** How many turns were sent to the agent: only for an eval and for a task with follow-ups. */
  turns: z.number().int().nonnegative().optional(),
  /** Only for a task with follow-ups. */
  turns_planned: z.number().int().positive().optional(),
  /**
   * Hash of the first model request, without what differs from case to case and without a listing of the workspace; `null`
   * where no gateway saw one. Rows of older versions have none.
   */
  first_request: z.string().nullable().optional(),
  /** The instruction files of the workspace; `null` where no gateway saw a request. Rows of older versions have none. */
  instruction_files: z
    .array(
      z.object({
        path: z.string(),
        /** How much of its text was there. Another file with the same text counts as well. */
        in_first_request: z.enum(['whole', 'part', 'no']),
      }),
    )
    .nullable()
    .optional(),
  /** Only of an eval: what it asserted, in the order of the calls. `assertions.json` of the case has the whole texts. */
  assertions: z.array(assertionSchema).optional(),
  /** Only where an eval has assertions with points: the points of this case, and how many there were. */
  score: z.number().optional(),
  max_score: z.number().optional(),
  /**
   * Only where a judge was asked: what it used, counted on the wire. It is in none of the other counts of the row. Calls of
   * attempts that were retried count as well.
   */
  judge: z
    .object({
      calls: z.number().int().nullable(),
      models: z.array(z.string()),
      total_tokens: z.number().int().nullable(),
      cost_usd: z.number().nullable(),
    })
    .optional(),
  /**
   * Only where the configuration has an `environment`: which one, by the beginning of its key, and up to 200 paths in it that
   * the agent changed, which count for nothing. `null`: not known, because the environment was a copy or the agent did not
   * run.
   */
  environment: z.object({ key: z.string(), changed_paths: z.array(z.string()).nullable() }).optional(),
  /** Only where the variant declares a context and the agent ran. */
  exposure: exposureSchema.optional(),
});

export type CaseRow = z.infer<typeof keptRowSchema>;

/** What earlier attempts of a case used together, and how many of them were not the first. */
export const earlierAttemptsSchema = keptRowSchema.pick({
  usage_source: true,
  input_tokens: true,
  output_tokens: true,
  cache_read_tokens: true,
  cache_write_tokens: true,
  reasoning_tokens: true,
  total_tokens: true,
  cost_usd: true,
  model_calls: true,
  tool_calls: true,
  tool_calls_by_name: true,
  command_call_count: true,
  reasoning_step_count: true,
  reported_duration_seconds: true,
  models: true,
  agent_duration_seconds: true,
  retries: true,
  judge: true,
});

export type EarlierAttempts = z.infer<typeof earlierAttemptsSchema>;
export type CommandRow = z.infer<typeof commandResultSchema>;
export type HardCheckRow = z.infer<typeof hardCheckSchema>;
