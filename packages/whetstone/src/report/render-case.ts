import { join } from 'node:path';
import type { Colors } from 'picocolors/types.js';
import type { CaseRow } from '../record/row.ts';
import { assertionLines } from './assertion-lines.ts';
import { evidenceFiles } from './evidence-files.ts';
import { exposureLines } from './exposure-lines.ts';
import { counted, dollars, seconds, tokens, UNKNOWN } from './format.ts';
import { oneLine } from './sanitize.ts';
import type { Summary } from './summary.ts';
import { renderTerminal, type TerminalOptions } from './terminal.ts';
import { type Column, paragraphLines, tableLines } from './text-layout.ts';

const PATHS_SHOWN = 20;

/**
 * One case in full, for `whetstone show RUN CASE`, without a newline at the end.
 * @param directory The folder of the case. Paths of files are never wrapped, so that they can be copied.
 */
export function renderCase(row: CaseRow, directory: string, view: TerminalOptions): string {
  const { colors, width } = view;
  const cause = row.failure_class === null ? '' : ` (${row.failure_class})`;
  const sections: [heading: string, lines: readonly string[]][] = [
    ['Assertions', assertionLines(row)],
    ['Validation', validation(row)],
    ['Hard evaluation', hardChecks(row)],
    ['Instruction files in the first model request', instructionFiles(row)],
    ['What the agent saw of its variant', row.exposure ? exposureLines(row.exposure) : []],
    ['Changed paths', shortened(row.touched_paths)],
    ['Notes on the kept files', row.artifact_notes ?? []],
    ['Protected paths that were touched, and restored', shortened(row.protected_paths_touched)],
    ['Changes that no patch can hold', shortened(row.unportable_paths)],
  ];
  return [
    ...paragraphLines(oneLine(titleOf(row)), width).map(colors.bold),
    outcomeColor(row, colors)(`${row.outcome}${cause}`),
    ...(row.evidence === null ? [] : paragraphLines(oneLine(row.evidence), width, '  ')),
    '',
    ...factLines(facts(row), view),
    ...sections.flatMap(([heading, lines]) => section(heading, lines, view)),
    '',
    colors.bold('Files'),
    ...evidenceFiles(row, directory).map(({ path }) => `  ${oneLine(join(directory, path))}`),
  ].join('\n');
}

/** A whole run, for `whetstone show RUN`: the report, then one line per case. */
export function renderRun(summary: Summary, rows: readonly CaseRow[], options: TerminalOptions): string {
  const { colors, width } = options;
  const columns: Column[] = [{ width: 6 }, { width: Math.max(20, width - 20) }, { width: 8, align: 'right' }];
  const lines = rows.flatMap((row) => {
    const cells = [row.outcome, oneLine(`${row.case_id}: ${titleOf(row)}`), seconds(row.duration_seconds)];
    const [first = '', ...rest] = tableLines(columns, [cells], '  ');
    return [first.replace(row.outcome, outcomeColor(row, colors)), ...rest];
  });
  return [renderTerminal(summary, rows, options), '', colors.bold('Cases'), ...lines].join('\n');
}

const titleOf = ({ agent_name: agent, task_id: task, variant, trial_index: trial }: CaseRow): string =>
  `${agent} · ${task} · ${variant} · trial ${trial}`;

const usedFact = ({ cpu_seconds: cpu, peak_memory_bytes: peak }: CaseRow): string =>
  `${cpu === null ? UNKNOWN : seconds(cpu)} of CPU time, ${peak === null ? UNKNOWN : `${Math.round(peak / 1e6)} MB`} of memory at most`;

const changesOf = ({ changed_files: files, insertions, deletions }: CaseRow): string =>
  files === null ? UNKNOWN : `${counted(files, 'file')}, +${insertions} −${deletions}`;

type Fact = [name: string, value: string];

function facts(row: CaseRow): Fact[] {
  return [
    ['case', row.case_id],
    ['commit', row.repo_ref],
    ['started', row.started_at ?? UNKNOWN],
    ['took', `${seconds(row.duration_seconds)}, of which the agent ${seconds(row.agent_duration_seconds)}`],
    ...(row.provider_wait_seconds === undefined
      ? []
      : [['waited', `${seconds(row.provider_wait_seconds)} of that for its provider`] as Fact]),
    ...(row.reused_from === undefined ? [] : [['reused', `from run ${row.reused_from.run_id}`] as Fact]),
    // Only an eval and a task with follow-ups have several turns, and only the latter plans them.
    ...(row.turns === undefined
      ? []
      : [['turns', [row.turns, ...(row.turns_planned ? [row.turns_planned] : [])].join(' of ')] as Fact]),
    ...(row.score === undefined ? [] : [['score', `${row.score} of ${row.max_score ?? UNKNOWN}`] as Fact]),
    ['used', usedFact(row)],
    ...(row.names_asked?.length ? [['asked for', row.names_asked.join(', ')] as Fact] : []),
    ...(row.host_requests?.length ? [['hosts', row.host_requests.map(requestText).join('; ')] as Fact] : []),
    ['agent exit', `${row.agent_exit_code ?? UNKNOWN}${row.timeout ? ', stopped at its time limit' : ''}`],
    ['changes', changesOf(row)],
    ['validation', `${row.validation_status}, confidence ${row.confidence}`],
    ['tokens', tokenFact(row)],
    ['cost', dollars(row.cost_usd)],
    ['calls', callsFact(row)],
    ...(row.judge === undefined ? [] : [['judge', judgeFact(row.judge)] as Fact]),
    ['models', row.models.join(', ') || UNKNOWN],
    ['telemetry', [row.telemetry_status, row.telemetry_error ?? [], row.telemetry_gaps].flat().join('; ')],
    ['retries', String(row.retries)],
    ...(row.auth === undefined ? [] : [['signed in', 'with the login of the user'] as Fact]),
    ...(row.reproducibility === undefined
      ? []
      : [['reproducibility', 'external: the agent worked on a server of the user'] as Fact]),
  ];
}

/** Its cost is not in that of the case. */
const judgeFact = ({ calls, models, total_tokens, cost_usd }: NonNullable<CaseRow['judge']>): string =>
  [
    calls === null ? `${UNKNOWN} model calls` : counted(calls, 'model call'),
    `${tokens(total_tokens, 0)} tokens`,
    `${dollars(cost_usd)} besides`,
    models.join(', ') || UNKNOWN,
  ].join(', ');

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

function factLines(all: readonly Fact[], { colors, width }: TerminalOptions): string[] {
  const names = Math.max(10, ...all.map(([name]) => name.length));
  const columns = [{ width: names }, { width: Math.max(20, width - names - 2) }];
  const rows = all.map(([name, value]) => [name, oneLine(value)]);
  return tableLines(columns, rows).map((line) => line.replace(/^[a-z]+(?: [a-z]+)?(?= )/, colors.dim));
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

const IN_REQUEST = { whole: 'whole', part: 'in part', no: 'not in it' };

function instructionFiles({ instruction_files: files }: CaseRow): string[] {
  if (files === undefined) return [];
  if (files === null) return ['unknown: no gateway saw a request'];
  if (files.length === 0) return ['none: the workspace has no instruction file'];
  return shortened(files.map(({ path, in_first_request: extent }) => `${path}: ${IN_REQUEST[extent]}`));
}

function shortened(paths: readonly string[]): string[] {
  const hidden = paths.length - PATHS_SHOWN;
  return hidden > 0 ? [...paths.slice(0, PATHS_SHOWN), `and ${hidden} more`] : [...paths];
}

function section(title: string, lines: readonly string[], { colors, width }: TerminalOptions): string[] {
  if (lines.length === 0) return [];
  return ['', colors.bold(title), ...lines.flatMap((line) => paragraphLines(oneLine(line), width, '  '))];
}

function outcomeColor(row: CaseRow, colors: Colors): (text: string) => string {
  if (row.outcome === 'passed') return colors.green;
  return row.outcome === 'failed' ? colors.red : colors.yellow;
}

/** What was asked of a host, and what came of it. */
const requestText = ({ host, port, count, refused }: NonNullable<CaseRow['host_requests']>[number]): string =>
  `${host}:${port} ${refused === undefined ? 'reached' : 'refused'}${count === 1 ? '' : ` ${count} times`}`;
