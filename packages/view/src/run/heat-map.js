import { caseAddress, runAddress } from '../app/address.js';
import { element } from '../parts/element.js';
import { counted, dollars, percentNumber, points, seconds, UNKNOWN } from '../parts/format.js';
import { chosenRows, SHOWS, SORTS, taskRows } from './task-rows.js';

/** @import { Keys } from '../app/page.js' */
/** @import { RunDetail } from '../../../whetstone/src/view/api.ts' */
/** @import { Choice, HeatCell, TaskRow, Trial } from './task-rows.js' */

/** In pixels; the style sheet has the same. */
const ROW = 34;
/** Rows that are drawn above and below the window. */
const MARGIN = 12;
/** With more trials than this, a trial is a thin bar. */
const DOTS = 8;

/** @type {Record<Trial['outcome'], string>} */
const WORDS = {
  passed: 'passed',
  failed: 'failed',
  error: 'error',
  skipped: 'skipped',
  not_run: 'not run',
  missing: 'not finished',
};

/** Where the reader was on a run, so that new results do not move them. @type {Map<string, Spot>} */
const places = new Map();
/** @typedef {{ top: number, row: number, dot: number }} Spot `row`: −1 as long as no row is chosen. */

/**
 * Tasks by arm as a heat map, with one dot per trial that links to its case. Only the rows in the window are drawn, so
 * that ten thousand cases scroll as easily as ten. The choice of the reader is in the address.
 * @param {RunDetail} run
 * @param {URLSearchParams} params
 * @param {Keys} keys
 * @returns {{ node: HTMLElement, choose(changes: Partial<Choice>): void }}
 */
export function heatMap(run, params, keys) {
  const all = taskRows(run);
  // The map before this one is still on the page.
  const hadFocus = document.activeElement?.matches('.heat a') ?? false;
  const place = places.get(run.id) ?? { top: 0, row: -1, dot: 0 };
  places.set(run.id, place);
  let choice = choiceOf(params);
  let rows = chosenRows(all, choice);
  /** @type {Map<number, HTMLElement>} */
  const drawn = new Map();

  const body = element('div', { role: 'rowgroup', class: 'heat-body' });
  const table = element('div', { role: 'table', class: 'heat-table' }, header(run), body);
  const view = element(
    'div',
    { class: 'heat', role: 'region', 'aria-label': 'Tasks by arm', tabindex: 0 },
    table,
  );
  const trials = Math.max(...all.map((row) => Math.max(...row.cells.map((cell) => cell.trials.length))), 0);
  view.style.setProperty('--arms', String(run.summary.arms.length));
  view.style.setProperty('--dots', String(Math.min(trials, DOTS)));

  const draw = () => {
    const visible = Math.ceil((view.clientHeight || innerHeight) / ROW);
    const first = Math.max(0, Math.floor(view.scrollTop / ROW) - MARGIN);
    const last = Math.min(rows.length, first + visible + 2 * MARGIN);
    for (const [index, row] of drawn) {
      if (index >= first && index < last) continue;
      row.remove();
      drawn.delete(index);
    }
    for (let index = first; index < last; index++) {
      const row = rows[index];
      if (row === undefined || drawn.has(index)) continue;
      const made = rowElement(run, row, index, place);
      drawn.set(index, made);
      const next = [...body.children].find((other) => Number(other.getAttribute('data-row')) > index);
      body.insertBefore(made, next ?? null);
    }
    body.style.paddingTop = `${first * ROW}px`;
  };
  const redraw = () => {
    drawn.clear();
    body.replaceChildren();
    body.style.height = `${rows.length * ROW}px`;
    table.setAttribute('aria-rowcount', String(rows.length + 1));
    draw();
  };

  const found = element('output', { class: 'found' });
  const empty = element('p', { class: 'note empty' }, 'No task fits this choice.');
  const say = () => {
    found.textContent =
      rows.length === all.length
        ? counted(all.length, 'task')
        : `${rows.length} of ${counted(all.length, 'task')}`;
    empty.hidden = rows.length > 0;
  };
  /** @param {Partial<Choice>} changes */
  const choose = (changes) => {
    choice = { ...choice, ...changes };
    for (const [name, value] of Object.entries(choice)) params.set(name, value); // for when the page is redrawn
    history.replaceState(null, '', runAddress(run.id, choice));
    rows = chosenRows(all, choice);
    Object.assign(place, { top: 0, row: -1 });
    view.scrollTop = 0;
    fillTools(tools, choice);
    redraw();
    say();
  };
  const tools = toolbar(run, choice, choose, found);

  /** Moves to a row, and to its trial that was last chosen. @param {number} to @param {number} dot */
  const move = (to, dot) => {
    if (rows.length === 0) return;
    place.row = Math.min(rows.length - 1, Math.max(0, to));
    const top = place.row * ROW;
    const inner = view.clientHeight - ROW;
    if (top < view.scrollTop) view.scrollTop = top;
    if (top > view.scrollTop + inner - ROW) view.scrollTop = top - inner + ROW;
    draw();
    const dots = drawn.get(place.row)?.querySelectorAll('a') ?? [];
    place.dot = Math.min(dots.length - 1, Math.max(0, dot));
    const link = dots[place.dot];
    link?.focus({ preventScroll: true });
    link?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  keys.set('j', { does: 'Next task', press: () => move(place.row + 1, place.dot) });
  keys.set('k', { does: 'Previous task', press: () => move(place.row - 1, place.dot) });
  keys.set('l', { does: 'Next trial of the task', press: () => move(place.row, place.dot + 1) });
  keys.set('h', { does: 'Previous trial of the task', press: () => move(place.row, place.dot - 1) });
  keys.set('f', {
    does: 'All tasks, only flipped, only not passed',
    press: () => {
      const shows = Object.keys(SHOWS);
      choose({ show: shows[(shows.indexOf(choice.show) + 1) % shows.length] ?? '' });
    },
  });

  let isAsked = false;
  view.addEventListener('scroll', () => {
    place.top = view.scrollTop;
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  });
  new ResizeObserver(draw).observe(view);
  redraw();
  say();
  requestAnimationFrame(() => {
    view.scrollTop = place.top; // the window has its height only now
    draw();
    if (hadFocus && place.row >= 0) move(place.row, place.dot);
  });
  return { node: element('div', { class: 'matrix' }, tools, view, empty, legend()), choose };
}

/**
 * @param {URLSearchParams} params
 * @returns {Choice}
 */
function choiceOf(params) {
  const given = (/** @type {string} */ name) => params.get(name) ?? '';
  return { q: given('q'), show: given('show'), class: given('class'), sort: given('sort') };
}

const MEANINGS = {
  Difference: 'The largest difference of a pass rate to the baseline of the same agent',
  Cost: 'Total of all trials of the task, in all arms',
  Time: 'Total time of all trials of the task, in all arms',
};

/** @param {RunDetail} run */
function header({ summary: { arms, baseline } }) {
  const isOneAgent = new Set(arms.map(({ agent }) => agent)).size === 1;
  const names = arms.map(({ agent, variant }) =>
    element(
      'div',
      {
        role: 'columnheader',
        class: variant === baseline ? 'baseline' : null,
        title: `${variant}, ${agent}`,
      },
      element('span', { class: 'variant' }, variant),
      isOneAgent ? null : element('span', { class: 'agent' }, agent),
    ),
  );
  const others = Object.entries(MEANINGS).map(([name, title]) =>
    element('div', { role: 'columnheader', class: 'number', title }, name),
  );
  return element(
    'div',
    { role: 'rowgroup', class: 'heat-head' },
    element(
      'div',
      { role: 'row', class: 'heat-row' },
      element('div', { role: 'columnheader' }, 'Task'),
      names,
      others,
    ),
  );
}

/**
 * @param {RunDetail} run
 * @param {TaskRow} row
 * @param {number} index
 * @param {Spot} place
 */
function rowElement(run, row, index, place) {
  const numbers = [
    row.gap === 0 ? '' : `${points(row.gap)} pp`,
    row.cost === null ? UNKNOWN : dollars(row.cost),
    row.seconds === null ? UNKNOWN : seconds(row.seconds),
  ];
  return element(
    'div',
    {
      role: 'row',
      class: 'heat-row',
      'data-row': index,
      'aria-rowindex': index + 2,
      focusin: (event) => {
        const dots = [...event.currentTarget.querySelectorAll('a')];
        Object.assign(place, { row: index, dot: Math.max(0, dots.indexOf(event.target)) });
      },
    },
    element('div', { role: 'rowheader', title: row.task }, row.task),
    row.cells.map((cell) => heatCell(run.id, cell)),
    numbers.map((text) => element('div', { role: 'cell', class: 'number' }, text)),
  );
}

/**
 * @param {string} run
 * @param {HeatCell} cell
 */
function heatCell(run, { trials, passed, known }) {
  const made = element(
    'div',
    { role: 'cell', class: known > 0 ? 'heat-cell known' : 'heat-cell' },
    trials.map(({ id, trial, outcome, failureClass, evidence }) => {
      const what = [WORDS[outcome], failureClass].filter(Boolean).join(', ');
      return element('a', {
        class: `dot ${outcome}${trials.length > DOTS ? ' thin' : ''}`,
        href: caseAddress(run, id),
        'aria-label': `trial ${trial}: ${what}`,
        title: [`Trial ${trial}: ${what}`, evidence].filter(Boolean).join('\n'),
        tabindex: -1,
      });
    }),
    known > 0 ? element('span', { class: 'share' }, percentNumber(passed / known)) : null,
  );
  if (known > 0) made.style.setProperty('--share', `${Math.round((100 * passed) / known)}%`);
  return made;
}

/**
 * @param {RunDetail} run
 * @param {Choice} choice
 * @param {(changes: Partial<Choice>) => void} choose
 * @param {HTMLElement} found
 */
function toolbar({ failures }, choice, choose, found) {
  /** @param {string} name @param {string} label @param {[string, string][]} options */
  const select = (name, label, options) =>
    element(
      'label',
      { class: 'select' },
      element('span', {}, label),
      element(
        'select',
        { name, change: (event) => choose({ [name]: event.target.value }) },
        options.map(([value, text]) => element('option', { value }, text)),
      ),
    );
  const tools = element(
    'search',
    { class: 'toolbar' },
    element('input', {
      type: 'search',
      name: 'q',
      placeholder: 'Search tasks and evidence',
      'aria-label': 'Search tasks and evidence',
      'aria-keyshortcuts': '/',
      autocomplete: 'off',
      spellcheck: 'false',
      input: (event) => choose({ q: event.target.value }),
    }),
    element(
      'div',
      { class: 'segments', role: 'group', 'aria-label': 'Which tasks' },
      Object.entries(SHOWS).map(([show, text]) =>
        element('button', { type: 'button', 'data-show': show, click: () => choose({ show }) }, text),
      ),
    ),
    failures.length === 0
      ? null
      : select('class', 'Failure', [
          ['', 'any'],
          ...failures.map(
            ({ class: name, title, count }) =>
              /** @type {[string, string]} */ ([name, `${title} (${count})`]),
          ),
        ]),
    select('sort', 'Sort', Object.entries(SORTS)),
    found,
  );
  fillTools(tools, choice);
  return tools;
}

/**
 * @param {HTMLElement} tools
 * @param {Choice} choice
 */
function fillTools(tools, choice) {
  for (const control of tools.querySelectorAll('input, select')) {
    if (!(control instanceof HTMLInputElement || control instanceof HTMLSelectElement)) continue;
    const value = choice[/** @type {keyof Choice} */ (control.name)];
    if (control.value !== value) control.value = value;
  }
  for (const button of tools.querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button.dataset.show === choice.show));
  }
}

function legend() {
  return element(
    'ul',
    { class: 'legend', 'aria-label': 'Marks' },
    Object.entries(WORDS).map(([outcome, word]) =>
      element('li', {}, element('span', { class: `dot ${outcome}`, 'aria-hidden': 'true' }), word),
    ),
    element('li', {}, 'A dot is a trial; the number is the percentage that passed.'),
  );
}
