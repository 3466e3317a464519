import { runAddress } from '../app/address.js';
import { askRuns } from '../app/server.js';
import { element } from '../parts/element.js';
import { counted } from '../parts/format.js';
import { badge, link, localTime, STATE_WORDS, table } from '../parts/parts.js';

/** @import { Page } from '../app/page.js' */
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
    draw: ({ runs, older }) => [
      element('h1', {}, 'Runs'),
      runs.length === 0
        ? element('p', {}, 'There is no run yet. Start one with ', element('code', {}, 'whetstone run'), '.')
        : table('Runs', COLUMNS, runs.map(cells)),
      older > 0 ? element('p', { class: 'note' }, `${counted(older, 'older run')} not listed.`) : null,
    ],
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
    [link(runAddress(run.id), run.id), element('div', { class: 'note' }, localTime(run.created_at))],
    element('div', { class: 'prose' }, run.headline),
    caseCounts(run.cases),
    run.agents.join(', '),
    run.variants.join(', '),
    badge(STATE_WORDS[run.state], run.state),
  ];
}

/** @param {ReadableRun['cases']} cases */
function caseCounts({ planned, passed, failed, error, skipped, missing, not_run: notRun }) {
  const others = [
    [failed, 'failed'],
    [error, 'without result'],
    [skipped, 'skipped'],
    [notRun, 'not run'],
    [missing, 'not finished'],
  ];
  const shown = others.flatMap(([count, word]) => (count ? `${count} ${word}` : []));
  return [
    element('div', { class: 'unbroken' }, `${passed} of ${planned} passed`),
    element('div', { class: 'note' }, shown.join(', ')),
  ];
}
