import { runAddress } from '../app/address.js';
import { askRuns, isFile } from '../app/server.js';
import { element, svgElement } from '../parts/element.js';
import { counted, percentNumber } from '../parts/format.js';
import { badge, link, localTime, outcomeBar, STATE_WORDS, table } from '../parts/parts.js';

/** @import { Keys, Page } from '../app/page.js' */
/** @import { ReadableRun, RunEntry, RunList } from '../../../whetstone/src/view/api.ts' */

/**
 * All runs of the output directory, the newest first.
 * @returns {Page<RunList>}
 */
export function runsPage() {
  return {
    load: askRuns,
    title: () => 'Runs',
    path: () => null,
    isLive: () => true, // a run may start at any time
    draw: ({ runs, older }, keys) => {
      keysOf(keys);
      return [
        element(
          'div',
          { class: 'title' },
          element('h1', {}, 'Runs'),
          isFile
            ? null
            : element(
                'span',
                { class: 'neighbours' },
                runs.length === 0 ? null : element('a', { class: 'button', href: '#/compare' }, 'Compare'),
                element('a', { class: 'button primary', href: '#/start' }, 'Start a run'),
              ),
        ),
        runs.length === 0
          ? element(
              'p',
              {},
              'There is no run yet. Start one here, or with ',
              element('code', {}, 'whetstone run'),
              '.',
            )
          : [trend(runs), table('Runs', COLUMNS, runs.map(cells))],
        older > 0 ? element('p', { class: 'note' }, `${counted(older, 'older run')} not listed.`) : null,
      ];
    },
  };
}

const COLUMNS = [
  { head: 'Run' },
  { head: 'What came out' },
  { head: 'Cases' },
  { head: 'Agents' },
  { head: 'Variants' },
  { head: 'State' },
];

/** @param {RunEntry} run */
function cells(run) {
  if (run.problem !== null) return [run.id, run.problem, '', '', '', badge('unreadable', 'error')];
  return [
    [
      link(runAddress(run.id), run.id),
      element('div', { class: 'note' }, localTime(run.created_at)),
      run.tags.map((tag) => badge(tag, 'plain')),
    ],
    element(
      'div',
      { class: 'prose' },
      run.headline,
      run.note === null ? null : element('div', { class: 'note' }, run.note),
    ),
    caseCounts(run.cases),
    run.agents.join(', '),
    run.variants.join(', '),
    badge(STATE_WORDS[run.state], run.state),
  ];
}

/** @param {ReadableRun['cases']} cases */
function caseCounts(cases) {
  const { planned, passed, failed, error, skipped, missing, not_run: notRun } = cases;
  const others = [
    [failed, 'failed'],
    [error, 'without result'],
    [skipped, 'skipped'],
    [notRun, 'not run after a pass'],
    [missing, 'not finished'],
  ];
  const shown = others.flatMap(([count, word]) => (count ? `${count} ${word}` : []));
  return [
    element('div', { class: 'unbroken' }, `${passed} of ${planned} passed`),
    element('div', { class: 'note' }, shown.join(', ')),
    outcomeBar(cases),
  ];
}

const HEIGHT = 72;

/**
 * The share of passed cases from run to run, the oldest first, of runs that are finished. The runs may differ in everything, so it claims no trend of an
 * agent.
 * @param {readonly RunEntry[]} runs
 */
function trend(runs) {
  const known = runs
    .flatMap((run) =>
      run.problem === null && run.state === 'finished' && run.cases.passed + run.cases.failed > 0 ? run : [],
    )
    .reverse();
  if (known.length < 2) return null;
  const share = (/** @type {ReadableRun} */ { cases }) => cases.passed / (cases.passed + cases.failed);
  const x = (/** @type {number} */ index) => `${(1 + (98 * index) / (known.length - 1)).toFixed(2)}%`;
  const y = (/** @type {number} */ value) => (6 + (HEIGHT - 12) * (1 - value)).toFixed(1);
  const lines = [0, 0.5, 1].map((value) =>
    svgElement('line', { class: 'tick', x1: 0, x2: '100%', y1: y(value), y2: y(value) }),
  );
  const points = known.map((run, index) => {
    const next = known[index + 1];
    const label = `${run.id}: ${percentNumber(share(run))} % of the cases with a result passed`;
    return [
      next === undefined
        ? null
        : svgElement('line', {
            class: 'path',
            x1: x(index),
            y1: y(share(run)),
            x2: x(index + 1),
            y2: y(share(next)),
          }),
      svgElement(
        'a',
        { href: runAddress(run.id), 'aria-label': label },
        svgElement('title', {}, label),
        svgElement('circle', { cx: x(index), cy: y(share(run)), r: 5 }),
      ),
    ];
  });
  return element(
    'figure',
    { class: 'trend' },
    svgElement(
      'svg',
      { width: '100%', height: HEIGHT, role: 'group', 'aria-label': 'Share of passed cases by run' },
      lines,
      points,
    ),
    element(
      'figcaption',
      { class: 'note' },
      'The share of passed cases from run to run, the oldest first. Runs may differ in tasks, agents and models: compare two to see in what.',
    ),
  );
}

/**
 * `j` and `k` go from run to run.
 * @param {Keys} keys
 */
function keysOf(keys) {
  const go = (/** @type {number} */ step) => {
    const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('main table a')]);
    const now = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    links[Math.min(links.length - 1, Math.max(0, now + step))]?.focus();
  };
  keys.set('j', { does: 'Next run', press: () => go(1) });
  keys.set('k', { does: 'Previous run', press: () => go(-1) });
}
