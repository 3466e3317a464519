import { runAddress } from '../app/address.js';
import { askCase, askCaseFile } from '../app/server.js';
import { element } from '../parts/element.js';
import { bytes, counted, dollars, seconds, tokens, UNKNOWN } from '../parts/format.js';
import { badge, facts, fold, link, localTime, STATE_WORDS, section, table } from '../parts/parts.js';
import { assertionTable } from './assertions.js';
import { exposure, instructionFiles } from './exposure.js';
import { modelCalls } from './model-calls.js';
import { patch } from './patch.js';
import { timeline } from './timeline.js';

/** @import { Child } from '../parts/element.js' */
/** @import { Page } from '../app/page.js' */
/** @import { CaseDetail, CaseFile } from '../../../whetstone/src/view/api.ts' */
/** @import { CaseRow } from '../../../whetstone/src/record/row.ts' */

/** @typedef {{ detail: CaseDetail, files: Map<string, CaseFile> }} WholeCase */

const PATHS_SHOWN = 50;

/**
 * One case: its outcome, and everything that explains it.
 * @param {string} run
 * @param {string} caseId
 * @returns {Page<WholeCase>}
 */
export function casePage(run, caseId) {
  return {
    load: () => loadCase(run, caseId),
    title: () => caseId,
    path: () => [
      link('#/', 'Runs'),
      link(runAddress(run), run),
      element('span', { 'aria-current': 'page' }, caseId),
    ],
    isLive: ({ detail }) => detail.row === null, // a stopped run may be resumed
    draw: ({ detail, files }) => [
      introduction(detail),
      detail.row && factsSection(detail.row),
      detail.row?.assertions?.length ? assertionTable(detail.row.assertions) : null,
      detail.row && verification(detail.row, files),
      detail.row?.instruction_files?.length ? instructionFiles(detail.row.instruction_files) : null,
      detail.row?.exposure ? exposure(detail.row.exposure) : null,
      draw(files, 'patch', 'Changes', patch),
      draw(files, 'answer', 'Answer', (file) => text(file.head)),
      detail.row && artifactNotes(detail.row),
      detail.row && paths(detail.row),
      draw(files, 'prompt', 'Prompt', (file) => text(file.head)),
      draw(files, 'events', 'What the agent did', timeline),
      draw(files, 'model-calls', 'Model calls', modelCalls),
      draw(files, 'stdout', 'Standard output', log),
      draw(files, 'stderr', 'Standard error', log),
    ],
  };
}

/** @type {WholeCase | undefined} */
let last;

/**
 * Returns the same object as before while nothing has changed.
 * @param {string} run
 * @param {string} caseId
 * @returns {Promise<WholeCase>}
 */
async function loadCase(run, caseId) {
  const detail = await askCase(run, caseId);
  const wanted = detail.files.filter((file) => file.bytes > 0);
  const loaded = await Promise.all(wanted.map((file) => askCaseFile(run, caseId, file.name)));
  const isSame = last?.detail === detail && loaded.every((file) => last?.files.get(file.name) === file);
  if (last && isSame) return last;
  last = { detail, files: new Map(loaded.map((file) => [file.name, file])) };
  return last;
}

/** @param {CaseDetail} detail */
function introduction({ state, planned, row }) {
  const outcome = row?.outcome ?? 'missing';
  const isNotRun = planned.outcome === 'not_run';
  const absent = isNotRun
    ? 'not run, because another trial had passed'
    : `no result: the run is ${STATE_WORDS[state]}`;
  return [
    element('h1', {}, `${planned.task_id} · ${planned.variant}`),
    element(
      'p',
      { class: 'badges' },
      badge(row ? outcome : absent, outcome),
      row?.failure_class ? badge(row.failure_class, 'plain') : null,
      `${planned.agent_name}, trial ${planned.trial_index}`,
    ),
    row?.evidence ? element('p', { class: 'evidence' }, row.evidence) : null,
  ];
}

/** @param {CaseRow} row */
function factsSection(row) {
  const exit = `${row.agent_exit_code ?? UNKNOWN}${row.timeout ? ', stopped at its time limit' : ''}`;
  /** @type {[string, Child][]} */
  const all = [
    ['Case', row.case_id],
    ['Commit', row.repo_ref],
    ['Started', localTime(row.started_at)],
    ['Took', `${seconds(row.duration_seconds)}, the agent ${seconds(row.agent_duration_seconds)}`],
    ...waitedFact(row),
    ...turnsFact(row),
    ...reusedFact(row),
    ['Agent exit', exit],
    ['Changes', `${counted(row.changed_files, 'file')}, +${row.insertions} −${row.deletions}`],
    ['Verified', `${row.validation_status}, confidence ${row.confidence}`],
    ['Tokens', tokenFact(row)],
    ['Cost', dollars(row.cost_usd)],
    ...judgeFact(row),
    ['Calls', `${row.model_calls ?? UNKNOWN} model calls, ${row.tool_calls ?? UNKNOWN} tool calls`],
    ['Models', row.models.join(', ') || UNKNOWN],
    ['Telemetry', [row.telemetry_status, ...row.telemetry_gaps].join('; ')],
    ['Retries', row.retries],
    ...loginFact(row),
  ];
  return section('Facts', facts(all));
}

/**
 * @param {CaseRow} row
 * @returns {[string, Child][]}
 */
function waitedFact({ provider_wait_seconds: waited }) {
  return waited === undefined ? [] : [['Waited', `${seconds(waited)} of that for its provider`]];
}

/**
 * @param {CaseRow} row
 * @returns {[string, Child][]}
 */
function loginFact({ auth }) {
  return auth === undefined ? [] : [['Signed in', 'with the login of the user']];
}

/**
 * Only an eval and a task with follow-ups have turns, and only the latter plans them.
 * @param {CaseRow} row
 * @returns {[string, Child][]}
 */
function turnsFact({ turns, turns_planned: planned }) {
  return turns === undefined ? [] : [['Turns', planned === undefined ? turns : `${turns} of ${planned}`]];
}

/**
 * @param {CaseRow} row
 * @returns {[string, Child][]}
 */
function reusedFact({ reused_from: from }) {
  return from === undefined ? [] : [['Reused', `from run ${from.run_id}`]];
}

/**
 * Its tokens and cost are in no other fact.
 * @param {CaseRow} row
 * @returns {[string, Child][]}
 */
function judgeFact({ judge }) {
  if (judge === undefined) return [];
  const calls = judge.calls === null ? `${UNKNOWN} model calls` : counted(judge.calls, 'model call');
  const used = [`${tokens(judge.total_tokens)} tokens`, `${dollars(judge.cost_usd)} besides`];
  return [['Judge', [calls, ...used, judge.models.join(', ') || UNKNOWN].join(', ')]];
}

/** @param {CaseRow} row */
function tokenFact(row) {
  if (row.usage_source === 'none') return UNKNOWN;
  /** @type {[string, number | null][]} */
  const kinds = [
    ['in', row.input_tokens],
    ['out', row.output_tokens],
    ['cache read', row.cache_read_tokens],
    ['cache write', row.cache_write_tokens],
    ['reasoning', row.reasoning_tokens],
  ];
  const known = kinds.flatMap(([kind, count]) => (count === null ? [] : `${kind} ${tokens(count)}`));
  const source = row.usage_source === 'gateway' ? 'counted on the wire' : 'reported by the agent';
  return `${tokens(row.total_tokens)} (${[...known, source].join(', ')})`;
}

/**
 * @param {CaseRow} row
 * @param {WholeCase['files']} files
 */
function verification(row, files) {
  if (row.validation_results.length === 0 && row.hard_evaluation.length === 0) return null;
  const commands = row.validation_results.map((result, index) => {
    const isPassed = result.ended === 'exit' && result.exit_code === 0;
    const end = result.ended === 'exit' ? `exit ${result.exit_code}` : result.ended;
    const logs = ['stdout', 'stderr'].flatMap((stream) => {
      const file = files.get(`validation-${index}-${stream}`);
      return file ? [element('h3', {}, stream), log(file)] : [];
    });
    const title = [
      badge(end, isPassed ? 'passed' : 'failed'),
      ' ',
      element('code', {}, result.command),
      ` ${seconds(result.duration_seconds)}`,
    ];
    return fold(
      `validation ${index}`,
      title,
      !isPassed,
      logs.length > 0 ? logs : element('p', { class: 'note' }, 'It printed nothing.'),
    );
  });
  const checks = row.hard_evaluation.map((check) => [
    check.name,
    badge(check.status, check.status),
    check.evidence,
  ]);
  return section(
    'Verification',
    commands,
    checks.length === 0
      ? null
      : table('Checks', [{ head: 'Check' }, { head: 'Status' }, { head: 'Evidence' }], checks),
  );
}

/** @param {CaseRow} row */
function artifactNotes({ artifact_notes: notes = [] }) {
  if (notes.length === 0) return null;
  return element(
    'ul',
    { class: 'note' },
    notes.map((note) => element('li', {}, note)),
  );
}

/** @param {CaseRow} row */
function paths(row) {
  /** @type {[string, string[], number][]} */
  const lists = [
    ['Changed paths', row.touched_paths, row.changed_files],
    [
      'Protected paths touched, and restored',
      row.protected_paths_touched,
      row.protected_paths_touched.length,
    ],
    ['Changes that other systems cannot hold', row.unportable_paths, row.unportable_paths.length],
  ];
  return lists.map(([title, all, count]) => {
    if (all.length === 0) return null;
    const shown = all.slice(0, PATHS_SHOWN);
    return fold(
      title,
      `${title} (${count})`,
      false,
      element(
        'ul',
        { class: 'paths' },
        shown.map((path) => element('li', {}, path)),
      ),
      count > shown.length ? element('p', { class: 'note' }, `And ${count - shown.length} more.`) : null,
    );
  });
}

/**
 * A section for a file that exists, with a note when a part of it is left out.
 * @param {WholeCase['files']} files
 * @param {string} name
 * @param {string} title
 * @param {(file: CaseFile) => Child} content
 * @returns {Child}
 */
function draw(files, name, title, content) {
  const file = files.get(name);
  return file === undefined ? null : section(title, content(file), omission(file));
}

/** @param {CaseFile} file */
function log(file) {
  return text(file.omitted_bytes > 0 ? `… ${file.tail}` : file.head);
}

/** @param {string} content */
const text = (content) => element('pre', { tabindex: 0 }, content);

/**
 * @param {CaseFile} file
 * @returns {Child}
 */
function omission(file) {
  if (file.omitted_bytes === 0) return null;
  const where = file.head === '' ? 'beginning' : file.tail === '' ? 'end' : 'middle';
  return element(
    'p',
    { class: 'note' },
    `${bytes(file.omitted_bytes)} of ${bytes(file.bytes)} left out at the ${where}.`,
  );
}
