import { expect, test } from 'vitest';
import { rowOf } from '../record/__fixtures__/records.ts';
import { renderContextEvalCsv } from './context-eval-csv.ts';

/** `CASE_COLUMNS` of context-eval 0.1.3. */
const COLUMNS =
  'run_id,case_id,agent_name,task_id,variant,trial_index,status,validation_status,confidence,telemetry_status,' +
  'telemetry_source,telemetry_error,duration_seconds,agent_duration_seconds,prompt_tokens,cached_input_tokens,' +
  'completion_tokens,total_tokens,reasoning_tokens,tool_call_count,command_call_count,tool_calls_by_name,' +
  'reasoning_step_count,model_name,provider_name,telemetry_evidence_gaps,codex_events_path,' +
  'codex_final_message_path,codex_error_reason,hard_evaluation_status,hard_evaluation_score,' +
  'hard_evaluation_max_score,hard_evaluation_passed_checks,hard_evaluation_failed_checks,' +
  'soft_evaluation_status,changed_files,insertions,deletions,touched_paths';

test('has the columns of context-eval, and its meaning of them', () => {
  const check = (name: string, status: 'passed' | 'failed' | 'skipped') => ({ name, status, evidence: '' });
  const row = rowOf('one', {
    ...{ usage_source: 'gateway', input_tokens: 10, cache_read_tokens: 90, output_tokens: 5 },
    ...{ tool_calls_by_name: { shell: 3 }, command_call_count: 3 },
    ...{ total_tokens: 105, tool_calls: 3, models: ['m'], telemetry_gaps: ['usage_mismatch'] },
    ...{ hard_evaluation_status: 'failed', soft_evaluation_status: 'payload_generated' },
    hard_evaluation: [check('a', 'passed'), check('b', 'failed'), check('c', 'skipped')],
  });
  const [head, first = '', second = '', end] = renderContextEvalCsv([row, rowOf('two')]).split('\n');
  expect(head).toBe(COLUMNS);
  expect(end).toBe('');
  expect(first).toContain(
    ',completed,passed,high,unavailable,gateway,,1,0.5,100,90,5,105,,3,3,"{""shell"":3}",,m,,"[""usage_mismatch""]",,,,',
  );
  expect(first).toContain(',failed,1,2,1,1,payload_generated,1,1,0,"[""a.txt""]"');
  expect(second).toContain(',not_configured,,,,,not_configured,');
});

test('names the events of Codex, and the error in them, where its output was read as such', () => {
  const columnsOf = (stream_error: string | null) => {
    const [head = '', line = ''] = renderContextEvalCsv([rowOf('one', { stream_error })]).split('\n');
    const values = line.split(',');
    return ['codex_events_path', 'codex_error_reason'].map((name) => values[head.split(',').indexOf(name)]);
  };
  expect(columnsOf('usage limit reached')).toEqual(['cases/one/stdout.log', 'usage limit reached']);
  expect(columnsOf(null)).toEqual(['cases/one/stdout.log', '']);
});
