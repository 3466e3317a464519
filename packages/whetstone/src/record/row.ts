import { z } from 'zod';
import { exposureSchema } from './exposure-schema.ts';

/**
 * One row of `results.jsonl`: what a case came to. Field names are the field's own (context-eval's where it has them).
 * Times are seconds, money is US dollars; `null` means "not known", never zero.
 */
const commandResultSchema = z.object({
  command: z.string(),
  exit_code: z.number().int(),
  duration_seconds: z.number(),
  ended: z.enum(['exit', 'timeout', 'abort']),
  /** Relative to the case's directory. */
  stdout_path: z.string(),
  stderr_path: z.string(),
});

const hardCheckSchema = z.object({
  name: z.string(),
  status: z.enum(['passed', 'failed', 'skipped']),
  evidence: z.string(),
});

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
  /** From 1. */
  trial_index: z.number().int().positive(),
  /** Commit SHA of the base tree. */
  repo_ref: z.string(),
  network: z.string(),

  outcome: z.enum(['passed', 'failed', 'error']),
  failure_class: z
    .enum([
      'agent',
      'task',
      'verifier',
      'harness',
      'sandbox',
      'provider-limit',
      'provider-outage',
      'budget',
      'timeout',
      'policy',
      'cheating',
    ])
    .nullable(),
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

  started_at: z.string(),
  /** The whole case. */
  duration_seconds: z.number(),
  /** The agent alone. */
  agent_duration_seconds: z.number().nullable(),
  agent_exit_code: z.number().int().nullable(),
  timeout: z.boolean(),

  validation_status: z.enum(['passed', 'failed', 'skipped']),
  validation_results: z.array(commandResultSchema),
  hard_evaluation_status: z.enum(['not_configured', 'passed', 'failed']),
  hard_evaluation: z.array(hardCheckSchema),
  /** Protected paths that the agent touched; they were restored before verification. */
  protected_paths_touched: z.array(z.string()),

  changed_files: z.number().int(),
  insertions: z.number().int(),
  deletions: z.number().int(),
  touched_paths: z.array(z.string()),
  unportable_paths: z.array(z.string()),

  /** `gateway`: counted on the wire. `agent`: what the agent said of itself. */
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
  models: z.array(z.string()),
  telemetry_status: z.enum(['unavailable', 'collected', 'partial', 'error']),
  telemetry_gaps: z.array(z.string()),

  /** Retries of this case after infrastructure errors, before this row. */
  retries: z.number().int().nonnegative(),
});

/** A row as it is kept: with what only few cases have to say, which is absent elsewhere and no column of a table. */
export const keptRowSchema = caseRowSchema.extend({
  /**
   * Where the artifacts are not what the agent left, one sentence each: secrets that were masked in the patch or in the
   * output folder, files that were left out.
   */
  artifact_notes: z.array(z.string()).optional(),
  /** Where the task has follow-ups: how many turns the agent was sent, and how many it was to be sent. */
  turns: z.number().int().nonnegative().optional(),
  turns_planned: z.number().int().positive().optional(),
  /** Where the variant declares instructions, skills or MCP servers, and the agent ran. */
  exposure: exposureSchema.optional(),
});

export type CaseRow = z.infer<typeof keptRowSchema>;
export type CommandRow = z.infer<typeof commandResultSchema>;
export type HardCheckRow = z.infer<typeof hardCheckSchema>;
