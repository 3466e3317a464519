import type { Colors } from 'picocolors/types.js';
import type { CaseRow } from '../record/row.ts';
import { evidenceFiles } from './evidence-files.ts';
import { exposureLines } from './exposure-lines.ts';
import { counted, dollars, seconds, tokens, UNKNOWN } from './format.ts';
import { oneLine } from './sanitize.ts';
import type { Summary } from './summary.ts';
import { renderTerminal, type TerminalOptions } from './terminal.ts';
import { paragraphLines, tableLines } from './text-layout.ts';

const PATHS_SHOWN = 20;

/**
 * One case in full, for `whetstone show RUN CASE`: its outcome, the evidence, what the agent did, and where the files
 * are.
 * @param directory The folder of the case. Paths of files are never wrapped, so that they can be copied.
 * @returns Lines without a newline at the end, as from `renderRun`.
 */
export function renderCase(row: CaseRow, directory: string, { colors, width }: TerminalOptions): string {
  const title = `${row.agent_name} · ${row.task_id} · ${row.variant} · trial ${row.trial_index}`;
  const cause = row.failure_class === null ? '' : ` (${row.failure_class})`;
  return [
    ...paragraphLines(oneLine(title), width).map(colors.bold),
    outcomeColor(row, colors)(`${row.outcome}${cause}`),
    ...(row.evidence === null ? [] : paragraphLines(oneLine(row.evidence), width, '  ')),
    '',
    ...factLines(facts(row), colors, width),
    ...section('Validation', validation(row), colors, width),
    ...section('Hard evaluation', hardChecks(row), colors, width),
    ...section(
      'What the agent saw of its variant',
      (row.exposure ? exposureLines(row.exposure) : []).map((line) => oneLine(line)),
      colors,
      width,
    ),
    ...section('Changed paths', shortened(row.touched_paths), colors, width),
    ...section(
      'Notes on the kept files',
      (row.artifact_notes ?? []).map((note) => oneLine(note)),
      colors,
      width,
    ),
    ...section(
      'Protected paths that were touched, and restored',
      shortened(row.protected_paths_touched),
      colors,
      width,
    ),
    ...section('Changes that other systems cannot hold', shortened(row.unportable_paths), colors, width),
    '',
    colors.bold('Files'),
    ...evidenceFiles(row, directory).map(({ path }) => `  ${oneLine(path)}`),
  ].join('\n');
}

/** A whole run, for `whetstone show RUN`: the report, then one line per case. */
export function renderRun(summary: Summary, rows: readonly CaseRow[], options: TerminalOptions): string {
  const { colors, width } = options;
  const lines = rows.flatMap((row) => {
    const line = `${row.case_id}: ${row.agent_name} · ${row.task_id} · ${row.variant} · trial ${row.trial_index}`;
    return tableLines(
      [{ width: 6 }, { width: Math.max(20, width - 20) }, { width: 8, align: 'right' }],
      [[row.outcome, oneLine(line), seconds(row.duration_seconds)]],
      '  ',
    ).map((text, i) => (i === 0 ? text.replace(row.outcome, outcomeColor(row, colors)) : text));
  });
  return [renderTerminal(summary, rows, options), '', colors.bold('Cases'), ...lines].join('\n');
}

type Fact = [name: string, value: string];

function facts(row: CaseRow): Fact[] {
  return [
    ['case', row.case_id],
    ['commit', row.repo_ref],
    ['started', row.started_at],
    ['took', `${seconds(row.duration_seconds)}, of which the agent ${seconds(row.agent_duration_seconds)}`],
    ...turnsFact(row),
    ['agent exit', `${row.agent_exit_code ?? UNKNOWN}${row.timeout ? ', stopped at its time limit' : ''}`],
    ['changes', `${counted(row.changed_files, 'file')}, +${row.insertions} −${row.deletions}`],
    ['validation', `${row.validation_status}, confidence ${row.confidence}`],
    ['tokens', tokenFact(row)],
    ['cost', dollars(row.cost_usd)],
    ['calls', callsFact(row)],
    ['models', row.models.join(', ') || UNKNOWN],
    ['telemetry', [row.telemetry_status, ...row.telemetry_gaps].join('; ')],
    ['retries', String(row.retries)],
  ];
}

/** Only a task with follow-ups has several turns. */
function turnsFact({ turns, turns_planned: planned }: CaseRow): Fact[] {
  return turns === undefined ? [] : [['turns', `${turns} of ${planned ?? UNKNOWN}`]];
}

function callsFact({ model_calls: models, tool_calls: tools }: CaseRow): string {
  const known = (count: number | null, noun: string) =>
    count === null ? `${UNKNOWN} ${noun}s` : counted(count, noun);
  return `${known(models, 'model call')}, ${known(tools, 'tool call')}`;
}

function tokenFact(row: CaseRow): string {
  if (row.usage_source === 'none') return UNKNOWN;
  const kinds: [string, number | null][] = [
    ['in', row.input_tokens],
    ['out', row.output_tokens],
    ['cache read', row.cache_read_tokens],
    ['cache write', row.cache_write_tokens],
    ['reasoning', row.reasoning_tokens],
  ];
  const known = kinds.flatMap(([kind, count]) => (count === null ? [] : `${kind} ${tokens(count, 0)}`));
  const source = row.usage_source === 'gateway' ? 'counted on the wire' : 'reported by the agent';
  return `${tokens(row.total_tokens, 0)} (${[...known, source].join(', ')})`;
}

function factLines(all: readonly Fact[], colors: Colors, width: number): string[] {
  return tableLines(
    [{ width: 10 }, { width: Math.max(20, width - 12) }],
    all.map(([name, value]) => [name, oneLine(value)]),
  ).map((line) => line.replace(/^[a-z]+(?: [a-z]+)?(?= )/, colors.dim));
}

function validation(row: CaseRow): string[] {
  return row.validation_results.map((result) => {
    const end = result.ended === 'exit' ? `exit ${result.exit_code}` : result.ended;
    return `${end}, ${seconds(result.duration_seconds)}: ${result.command}`;
  });
}

function hardChecks(row: CaseRow): string[] {
  return row.hard_evaluation.map((check) => `${check.status}: ${check.name}: ${check.evidence}`);
}

function shortened(paths: readonly string[]): string[] {
  const hidden = paths.length - PATHS_SHOWN;
  return hidden > 0 ? [...paths.slice(0, PATHS_SHOWN), `and ${hidden} more`] : [...paths];
}

function section(title: string, lines: readonly string[], colors: Colors, width: number): string[] {
  if (lines.length === 0) return [];
  return ['', colors.bold(title), ...lines.flatMap((line) => paragraphLines(oneLine(line), width, '  '))];
}

function outcomeColor(row: CaseRow, colors: Colors): (text: string) => string {
  if (row.outcome === 'passed') return colors.green;
  return row.outcome === 'failed' ? colors.red : colors.yellow;
}
