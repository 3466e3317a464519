import { caseLayout, runLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { type CsvValue, csvLines } from './csv.ts';

/**
 * The table that `context-eval export --format csv` writes: its columns, in its order, with our values. Unknown is empty.
 * Lists and counts by name are JSON, as there. `telemetry_source` is ours: `gateway`, `agent` or `none`. Always empty are
 * `provider_name`, which no version of context-eval fills, and `codex_final_message_path`: the message is an event of the case.
 */
export function renderContextEvalCsv(rows: readonly CaseRow[]): string {
  const [columns = {}] = rows.map(columnsOf);
  return csvLines([Object.keys(columns), ...rows.map((row) => Object.values(columnsOf(row)))], '\n');
}

function columnsOf(row: CaseRow): Record<string, CsvValue> {
  const checks = row.hard_evaluation.filter(({ status }) => status !== 'skipped');
  const passed = checks.filter(({ status }) => status === 'passed').length;
  const isChecked = row.hard_evaluation_status !== 'not_configured';
  return {
    run_id: row.run_id,
    case_id: row.case_id,
    agent_name: row.agent_name,
    task_id: row.task_id,
    variant: row.variant,
    trial_index: row.trial_index,
    status: row.status,
    validation_status: row.validation_status,
    confidence: row.confidence,
    telemetry_status: row.telemetry_status,
    telemetry_source: row.usage_source,
    telemetry_error: row.telemetry_error,
    duration_seconds: row.duration_seconds,
    agent_duration_seconds: row.agent_duration_seconds,
    prompt_tokens: promptTokens(row),
    cached_input_tokens: row.cache_read_tokens,
    completion_tokens: row.output_tokens,
    total_tokens: row.total_tokens,
    reasoning_tokens: row.reasoning_tokens,
    tool_call_count: row.tool_calls,
    command_call_count: row.command_call_count,
    tool_calls_by_name: row.tool_calls_by_name,
    reasoning_step_count: row.reasoning_step_count,
    model_name: row.models.join(', '),
    provider_name: null,
    telemetry_evidence_gaps: unlessEmpty(row.telemetry_gaps),
    codex_events_path: row.stream_error === undefined ? null : eventsPath(row),
    codex_final_message_path: null,
    codex_error_reason: row.stream_error,
    hard_evaluation_status: row.hard_evaluation_status,
    hard_evaluation_score: isChecked ? passed : null,
    hard_evaluation_max_score: isChecked ? checks.length : null,
    hard_evaluation_passed_checks: isChecked ? passed : null,
    hard_evaluation_failed_checks: isChecked ? checks.length - passed : null,
    soft_evaluation_status: row.soft_evaluation_status ?? 'not_configured',
    changed_files: row.changed_files,
    insertions: row.insertions,
    deletions: row.deletions,
    touched_paths: unlessEmpty(row.touched_paths),
  };
}

/** Below the directory of the run. */
const eventsPath = ({ case_id }: CaseRow): string => caseLayout(runLayout('').case(case_id)).stdout;

/** There, tokens that were read from a cache count as tokens of the prompt. */
function promptTokens({ input_tokens: own, cache_read_tokens: read, cache_write_tokens: written }: CaseRow) {
  return own === null ? null : own + (read ?? 0) + (written ?? 0);
}

const unlessEmpty = (list: readonly string[]): readonly string[] | null => (list.length > 0 ? list : null);
