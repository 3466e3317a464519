import { runAddress } from '../app/address.js';
import { askCase, askCaseFile, askLabels, askRun } from '../app/server.js';
import { element } from '../parts/element.js';
import { counted, dollars, seconds, tokens, UNKNOWN } from '../parts/format.js';
import { badge, facts, fold, link, localTime, STATE_WORDS, section, tile } from '../parts/parts.js';
import { assertionTable } from './assertions.js';
import { callBodies } from './call-bodies.js';
import { exposure, instructionFiles } from './exposure.js';
import { bytesOf, log } from './logs.js';
import { beside, contents, neighbours, sameTask } from './navigation.js';
import { patch } from './patch.js';
import { review } from './review.js';
import { transcript } from './transcript.js';
import { verification } from './verification.js';
import { waterfall } from './waterfall.js';

/** @import { Child } from '../parts/element.js' */
/** @import { Keys, Page } from '../app/page.js' */
/** @import { CaseDetail, CaseFile, RunDetail, RunLabels } from '../../../whetstone/src/view/api.ts' */
/** @import { CaseRow } from '../../../whetstone/src/record/row.ts' */

/** @typedef {{ detail: CaseDetail, files: Map<string, CaseFile>, all: RunDetail, labels: RunLabels }} WholeCase */

const PATHS_SHOWN = 50;

/**
 * One case: its outcome, and everything that explains it.
 * @param {string} run
 * @param {string} caseId
 * @param {URLSearchParams} params What the page opens at. `event`: the number of an event, from 1; `call`: the id of a model call.
 * @returns {Page<WholeCase>}
 */
export function casePage(run, caseId, params) {
  const place = { run, case: caseId };
  return {
    run,
    load: () => loadCase(run, caseId),
    title: () => caseId,
    path: () => [
      link('#/', 'Runs'),
      link(runAddress(run), run),
      element('span', { 'aria-current': 'page' }, caseId),
    ],
    isLive: ({ detail }) => detail.row === null, // a stopped run may be resumed
    followsActivity: true,
    draw: ({ detail, files, all, labels }, keys) => {
      const { row } = detail;
      /** @param {string} name @param {string} title @param {(file: CaseFile) => Child} content */
      const shown = (name, title, content) => {
        const file = files.get(name);
        return file === undefined ? null : section(title, content(file), bytesOf(place, file));
      };
      /** @param {string} name @param {string} title */
      const logged = (name, title) => {
        const file = files.get(name);
        return file === undefined ? null : section(title, log(place, file));
      };
      const parts = [
        row?.assertions?.length ? assertionTable(row.assertions) : null,
        row && verification(place, row, files),
        shown('patch', 'Changes', (file) => patch(file, place)),
        shown('answer', 'Answer', text),
        row && artifactNotes(row),
        row && paths(row),
        shown('events', 'Transcript', transcript),
        shown('model-calls', 'Calls', (file) => waterfall(place, file, files.get('events'))),
        files.has('model-calls') ? requests(place, detail, files) : null,
        row?.instruction_files?.length ? instructionFiles(row.instruction_files) : null,
        row?.exposure ? exposure(row.exposure) : null,
        shown('prompt', 'Prompt', text),
        logged('stdout', 'Standard output'),
        logged('stderr', 'Standard error'),
        row && review(place, labels),
        row && factsSection(row),
      ];
      goToEvent(params);
      goToCall(params);
      return [introduction(detail, all, keys), contents(parts), parts];
    },
  };
}

/**
 * Shows the event that the address names, once: a page that is drawn anew stays where its reader is.
 * @param {URLSearchParams} params
 */
function goToEvent(params) {
  const wanted = Number(params.get('event'));
  params.delete('event');
  if (!Number.isInteger(wanted) || wanted < 1) return;
  requestAnimationFrame(() => {
    const item = document.querySelector(`.transcript [data-event="${wanted}"]`);
    if (!(item instanceof HTMLElement)) return;
    for (const one of item.querySelectorAll('details')) one.open = true;
    item.classList.add('wanted');
    item.tabIndex = -1;
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: 'center' });
  });
}

/**
 * Unfolds the request and the reply of the call that the address names, once.
 * @param {URLSearchParams} params
 */
function goToCall(params) {
  const wanted = params.get('call');
  params.delete('call');
  if (wanted === null) return;
  requestAnimationFrame(() => {
    const made = document.querySelector(`[data-call="${CSS.escape(wanted)}"]`);
    if (!(made instanceof HTMLDetailsElement)) return;
    made.open = true;
    made.querySelector('summary')?.focus({ preventScroll: true });
    made.scrollIntoView({ block: 'start' });
  });
}

/**
 * @param {{ run: string, case: string }} place
 * @param {CaseDetail} detail
 * @param {ReadonlyMap<string, CaseFile>} files
 */
function requests(place, detail, files) {
  const ledger = files.get('model-calls');
  const areKept = detail.files.some(({ name }) => name === 'exchanges');
  return ledger ? section('Requests', callBodies(place, ledger, areKept)) : null;
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
  const [detail, all, labels] = await Promise.all([askCase(run, caseId), askRun(run), askLabels(run)]);
  const wanted = detail.files.filter(({ name, bytes }) => bytes > 0 && name !== 'exchanges');
  const loaded = await Promise.all(wanted.map((file) => askCaseFile(run, caseId, file.name)));
  const isSame =
    last?.detail === detail &&
    last.all === all &&
    last.labels === labels &&
    loaded.every((file) => last?.files.get(file.name) === file);
  if (last && isSame) return last;
  last = { detail, files: new Map(loaded.map((file) => [file.name, file])), all, labels };
  return last;
}

/**
 * @param {CaseDetail} detail
 * @param {RunDetail} all
 * @param {Keys} keys
 */
function introduction({ run, state, planned, row }, all, keys) {
  const outcome = row?.outcome ?? 'missing';
  const isNotRun = planned.outcome === 'not_run';
  const absent = isNotRun
    ? 'not run, because another trial had passed'
    : `no result: the run is ${STATE_WORDS[state]}`;
  return [
    element(
      'div',
      { class: 'title' },
      element('h1', {}, `${planned.task_id} · ${planned.variant}`),
      badge(row ? outcome : absent, outcome),
      row?.failure_class ? badge(row.failure_class, 'plain') : null,
      element('span', { class: 'note' }, `${planned.agent_name}, trial ${planned.trial_index}`),
      neighbours(run, planned.case_id, all, keys),
    ),
    row?.evidence ? element('p', { class: 'evidence' }, row.evidence) : null,
    sameTask(run, planned, all),
    beside(run, planned, all, keys),
    row && tiles(row),
  ];
}

/** @param {CaseRow} row */
function tiles(row) {
  return element(
    'div',
    { class: 'tiles' },
    tile(seconds(row.agent_duration_seconds), [`of the agent; ${seconds(row.duration_seconds)} for all`]),
    tile(
      row.cost_usd === null ? 'Cost not known' : dollars(row.cost_usd),
      row.total_tokens === null ? 'tokens not known' : `${tokens(row.total_tokens)} tokens`,
    ),
    row.changed_files === null
      ? tile(UNKNOWN, 'changes, which were not read')
      : tile(`+${row.insertions} −${row.deletions}`, `in ${counted(row.changed_files, 'file')}`),
    tile(`${row.model_calls ?? UNKNOWN} / ${row.tool_calls ?? UNKNOWN}`, 'model calls / tool calls'),
  );
}

/** @param {CaseRow} row */
function factsSection(row) {
  const exit = `${row.agent_exit_code ?? UNKNOWN}${row.timeout ? ', stopped at its time limit' : ''}`;
  /** @type {[string, Child][]} */
  const all = [
    ['Case', row.case_id],
    ['Commit', row.repo_ref],
    ['Started', row.started_at === null ? UNKNOWN : localTime(row.started_at)],
    ['Took', `${seconds(row.duration_seconds)}, the agent ${seconds(row.agent_duration_seconds)}`],
    ...waitedFact(row),
    ...turnsFact(row),
    ...reusedFact(row),
    ['Agent exit', exit],
    [
      'Changes',
      row.changed_files === null
        ? UNKNOWN
        : `${counted(row.changed_files, 'file')}, +${row.insertions} −${row.deletions}`,
    ],
    ['Verified', `${row.validation_status}, confidence ${row.confidence}`],
    ['Tokens', tokenFact(row)],
    ['Cost', dollars(row.cost_usd)],
    ...judgeFact(row),
    ['Calls', `${row.model_calls ?? UNKNOWN} model calls, ${row.tool_calls ?? UNKNOWN} tool calls`],
    ['Models', row.models.join(', ') || UNKNOWN],
    ['Telemetry', [row.telemetry_status, row.telemetry_error ?? [], row.telemetry_gaps].flat().join('; ')],
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
    ['Changed paths', row.touched_paths, row.changed_files ?? 0],
    [
      'Protected paths touched, and restored',
      row.protected_paths_touched,
      row.protected_paths_touched.length,
    ],
    ['Changes that no patch can hold', row.unportable_paths, row.unportable_paths.length],
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

/** @param {CaseFile} file */
const text = (file) => element('pre', { tabindex: 0 }, file.head);
