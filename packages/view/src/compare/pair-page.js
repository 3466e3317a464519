import { caseAddress, pairAddress, runAddress } from '../app/address.js';
import { askCase, askCaseFile, askRun } from '../app/server.js';
import { casesOfTask } from '../case/navigation.js';
import { patch } from '../case/patch.js';
import { element } from '../parts/element.js';
import { dollars, seconds, tokens, UNKNOWN } from '../parts/format.js';
import { jsonLines } from '../parts/json-lines.js';
import { badge, link, section, table } from '../parts/parts.js';
import { differ, lineDiff } from './line-diff.js';
import { firstRequest, requestDiff } from './request-diff.js';
import { stepTable } from './step-table.js';
import { alignSteps, stepsOf } from './steps.js';
import { timelines } from './timelines.js';

/** @import { Keys, Page } from '../app/page.js' */
/** @import { CaseName } from '../app/address.js' */
/** @import { CaseDetail, CaseFile, RunDetail } from '../../../whetstone/src/view/api.ts' */
/** @import { CaseRow } from '../../../whetstone/src/record/row.ts' */

/** @import { Request } from './request-diff.js' */

/** @typedef {{ name: CaseName, detail: CaseDetail, all: RunDetail, files: Map<string, CaseFile>, request: Request | null }} PairSide */
/** @typedef {{ a: PairSide, b: PairSide, library: typeof Diff }} Pair */

/** The files that are compared. */
const FILES = ['prompt', 'events', 'model-calls', 'patch'];

/**
 * Two cases side by side, such as two arms of one task: where they part, and what each came to.
 * @param {CaseName} a
 * @param {CaseName} b
 * @returns {Page<Pair>}
 */
export function pairPage(a, b) {
  return {
    load: () => loadPair(a, b),
    title: () => `${a.case} beside ${b.case}`,
    path: () => [
      link('#/', 'Runs'),
      link(runAddress(b.run), b.run),
      element('span', { 'aria-current': 'page' }, 'Side by side'),
    ],
    isLive: (pair) => pair.a.detail.row === null || pair.b.detail.row === null,
    draw: (pair, keys) => {
      keys.set('x', {
        does: 'Swap the two sides',
        press: () => {
          location.hash = pairAddress(b, a);
        },
      });
      return drawPair(pair);
    },
  };
}

/** @param {Pair} pair */
function drawPair({ a, b, library }) {
  const [ofA, ofB] = [a, b].map(({ files }) => eventsOf(files));
  const rows = alignSteps(stepsOf(ofA ?? []), stepsOf(ofB ?? []), library.diffArrays);
  const isSameTask = a.detail.planned.task_id === b.detail.planned.task_id;
  const [promptOfA = '', promptOfB = ''] = [a, b].map(({ files }) => files.get('prompt')?.head);
  return [
    element(
      'h1',
      {},
      isSameTask
        ? `${b.detail.planned.task_id}, side by side`
        : `${a.detail.planned.task_id} beside ${b.detail.planned.task_id}`,
    ),
    isSameTask
      ? null
      : element('p', { class: 'problem' }, 'These are cases of two tasks, so that most of it differs.'),
    element('div', { class: 'two' }, head('A', a, b), head('B', b, a)),
    section('Where they part', stepTable(rows, a.name, b.name)),
    section('Both timelines', timelines(a.files, b.files)),
    amounts(a.detail.row, b.detail.row),
    section('Prompt', lineDiff('prompt', promptOfA, promptOfB, library)),
    section('What differs in the first request', requestDiff(a.request, b.request, library)),
    section('Both changes', element('div', { class: 'two' }, changes('A', a), changes('B', b))),
  ];
}

/** @param {ReadonlyMap<string, CaseFile>} files */
function eventsOf(files) {
  const events = files.get('events');
  return events === undefined ? [] : jsonLines(events).values;
}

/**
 * What a side is and came to, and the other cases of its task that may stand in its place.
 * @param {'A' | 'B'} side
 * @param {PairSide} own
 * @param {PairSide} other
 */
function head(side, { name, detail: { planned, row, state }, all }, other) {
  return element(
    'div',
    { class: 'side' },
    element(
      'h2',
      {},
      element('span', { class: 'side-name' }, side),
      ' ',
      link(caseAddress(name.run, name.case), `${planned.variant} · ${planned.agent_name}`),
    ),
    element(
      'p',
      {},
      badge(row?.outcome ?? `no result: the run is ${state}`, row?.outcome ?? 'missing'),
      ' ',
      row?.failure_class ? badge(row.failure_class, 'plain') : null,
      element('span', { class: 'note' }, ` trial ${planned.trial_index}`),
    ),
    row?.evidence ? element('p', { class: 'evidence' }, row.evidence) : null,
    casesOfTask(`Other cases for ${side}`, planned, all, (id) => {
      const chosen = { run: name.run, case: id };
      return side === 'A' ? pairAddress(chosen, other.name) : pairAddress(other.name, chosen);
    }),
  );
}

/**
 * @param {CaseRow | null} a
 * @param {CaseRow | null} b
 */
function amounts(a, b) {
  /** @type {[string, (row: CaseRow) => number | null, (value: number | null) => string][]} */
  const kinds = [
    ['Agent time', (row) => row.agent_duration_seconds, seconds],
    ['Cost', (row) => row.cost_usd, dollars],
    ['Tokens', (row) => row.total_tokens, tokens],
    ['of them cached', (row) => row.cache_read_tokens, tokens],
    ['Model calls', (row) => row.model_calls, plain],
    ['Tool calls', (row) => row.tool_calls, plain],
    ['Changed files', (row) => row.changed_files, plain],
    ['Added lines', (row) => row.insertions, plain],
    ['Removed lines', (row) => row.deletions, plain],
  ];
  const rows = kinds.map(([what, of, format]) => {
    const [inA, inB] = [a && of(a), b && of(b)];
    const known = inA !== null && inB !== null && inA > 0;
    return [what, format(inA), format(inB), known ? `× ${(inB / inA).toFixed(2)}` : UNKNOWN];
  });
  const columns = [
    { head: 'Amount' },
    { head: 'A', number: true },
    { head: 'B', number: true },
    { head: 'B / A', number: true },
  ];
  return section('Amounts', table('Amounts', columns, rows));
}

/** @param {number | null} value */
const plain = (value) => (value === null ? UNKNOWN : String(value));

/**
 * @param {string} side
 * @param {PairSide} of
 */
function changes(side, { name, files }) {
  const file = files.get('patch');
  return element(
    'div',
    { class: 'side' },
    element('h3', {}, side),
    file === undefined
      ? element('p', { class: 'note' }, 'No change was kept.')
      : patch(file, name, `${side} `),
  );
}

/** @type {Pair | undefined} */
let last;

/**
 * Returns the same object as before while nothing has changed.
 * @param {CaseName} a
 * @param {CaseName} b
 * @returns {Promise<Pair>}
 */
async function loadPair(a, b) {
  const [ofA, ofB, library] = await Promise.all([loadSide(a), loadSide(b), differ()]);
  if (last && isSame(last.a, ofA) && isSame(last.b, ofB)) return last;
  last = { a: ofA, b: ofB, library };
  return last;
}

/**
 * @param {PairSide} before
 * @param {PairSide} now
 */
const isSame = (before, now) =>
  before.detail === now.detail &&
  before.all === now.all &&
  before.request === now.request &&
  [...now.files].every(([name, file]) => before.files.get(name) === file);

/**
 * @param {CaseName} name
 * @returns {Promise<PairSide>}
 */
async function loadSide(name) {
  const [detail, all] = await Promise.all([askCase(name.run, name.case), askRun(name.run)]);
  const wanted = detail.files.filter((file) => file.bytes > 0 && FILES.includes(file.name));
  const loaded = await Promise.all(wanted.map((file) => askCaseFile(name.run, name.case, file.name)));
  const files = new Map(loaded.map((file) => [file.name, file]));
  return { name, detail, all, files, request: await firstRequest(name, files) };
}
