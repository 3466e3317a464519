import { compareAddress, runAddress } from '../app/address.js';
import { askRun, isFile } from '../app/server.js';
import { element } from '../parts/element.js';
import { counted, dollars, seconds, tokens } from '../parts/format.js';
import { badge, link, localTime, outcomeBar, STATE_WORDS, section, tile } from '../parts/parts.js';
import { activityPanel } from './activity-panel.js';
import { arms } from './arms.js';
import { categories } from './categories.js';
import { heatMap } from './heat-map.js';
import { provenance } from './provenance.js';
import { reach } from './reach.js';
import { verdicts } from './verdict.js';

/** @import { Keys, Page } from '../app/page.js' */
/** @import { RunDetail } from '../../../whetstone/src/view/api.ts' */

/**
 * One run: the verdict first, then every task, and what the run does not show.
 * @param {string} id
 * @param {URLSearchParams} params
 * @returns {Page<RunDetail>}
 */
export function runPage(id, params) {
  return {
    run: id,
    load: () => askRun(id),
    title: () => `Run ${id}`,
    path: () => [link('#/', 'Runs'), element('span', { 'aria-current': 'page' }, id)],
    isLive: (run) => run.state !== 'finished', // a stopped run may be resumed
    draw: (run, keys) => [
      introduction(run),
      isFile ? null : activityPanel(run.id),
      verdicts(run.summary, (one) => compareLink(run.id, one)),
      arms(run.summary),
      tasks(run, params, keys),
      categories(run.summary),
      section(
        'What this does not show',
        element(
          'ul',
          { class: 'caveats' },
          run.summary.caveats.map((caveat) => element('li', {}, caveat)),
        ),
      ),
      section('What agents could read and reach', reach(run)),
      section('Provenance', provenance(run)),
    ],
  };
}

/** @param {RunDetail} run */
function introduction({ id, state, tags, note, manifest, summary }) {
  const { cases, headline } = summary;
  /** @type {[number, string, string][]} */
  const counts = [
    [cases.passed, 'passed', 'passed'],
    [cases.failed, 'failed', 'failed'],
    [cases.error, 'error', cases.error === 1 ? 'error' : 'errors'],
    [cases.skipped, 'skipped', 'skipped'],
    [cases.not_run, 'not_run', 'not run'],
    [cases.missing, 'missing', 'not finished'],
  ];
  return [
    element(
      'div',
      { class: 'title' },
      element('h1', {}, `Run ${id}`),
      badge(STATE_WORDS[state], state),
      tags.map((tag) => badge(tag, 'plain')),
    ),
    element('p', { class: 'lead' }, headline),
    note === null ? null : element('p', { class: 'note' }, note),
    element(
      'div',
      { class: 'tiles' },
      tile(counted(cases.planned, 'case'), [
        counts.flatMap(([count, kind, word]) =>
          count === 0
            ? []
            : [element('span', { class: `count ${kind}` }, `${count.toLocaleString('en-US')} ${word}`)],
        ),
        outcomeBar(cases),
      ]),
      spent(summary),
      tile(localTime(manifest.created_at), [
        counted(manifest.tasks.length, 'task'),
        ` × ${counted(summary.arms.length, 'arm')} × ${counted(manifest.trials, 'trial')}, ${manifest.jobs} at a time`,
      ]),
    ),
    state === 'running'
      ? element('progress', { max: cases.planned, value: cases.finished, 'aria-label': 'Finished cases' })
      : null,
  ];
}

/**
 * To everything else that differs between the two arms.
 * @param {string} run
 * @param {RunDetail['summary']['comparisons'][number]} one
 */
function compareLink(run, { agent, variant, baseline, pooled }) {
  if (isFile) return null;
  const arm = (/** @type {string} */ name) => ({ run, arm: pooled ? name : `${agent}/${name}` });
  return element(
    'a',
    { class: 'more', href: compareAddress(arm(baseline), arm(variant)) },
    'Compare in full',
  );
}

/** @param {RunDetail['summary']} summary */
function spent({ arms: all }) {
  /** @param {(number | null)[]} values */
  const sum = (values) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
  };
  const cost = sum(all.map((arm) => arm.cost_usd));
  const unknown = all.reduce((count, arm) => count + arm.cost_unknown, 0);
  const used = sum(all.map((arm) => arm.total_tokens));
  const uncounted = all.reduce((count, arm) => count + arm.tokens_unknown, 0);
  const times = all.flatMap((arm) => arm.median_seconds ?? []);
  return tile(cost === null ? 'Cost not known' : dollars(cost, unknown), [
    used === null ? 'tokens not known' : `${tokens(used, uncounted)} tokens`,
    times.length === 0 ? null : `, ${caseTime(times)}`,
  ]);
}

/** @param {readonly number[]} medians Of the arms, in seconds. */
function caseTime(medians) {
  const [least, most] = [seconds(Math.min(...medians)), seconds(Math.max(...medians))];
  return least === most
    ? `a case takes ${least} (median)`
    : `a case takes ${least} to ${most} (medians of arms)`;
}

/**
 * @param {RunDetail} run
 * @param {URLSearchParams} params
 * @param {Keys} keys
 */
function tasks(run, params, keys) {
  const map = heatMap(run, params, keys);
  return [
    section('Tasks', map.node),
    run.failures.length === 0
      ? null
      : section(
          'Why cases did not pass',
          failures(run, (name) => {
            map.choose({ class: name });
            map.node.scrollIntoView({ block: 'start' });
          }),
        ),
  ];
}

const GROUPS_SHOWN = 5;

/**
 * The evidence of what did not pass, the most frequent first. A class leads to its tasks.
 * @param {RunDetail} run
 * @param {(failureClass: string) => void} choose
 */
function failures({ id, failures: groups, cases: { texts, lines } }, choose) {
  return groups.map(({ class: name, title, count }) => {
    const ofClass = lines.filter((line) => line[6] !== null && texts[line[6]] === name);
    const byEvidence = [...Map.groupBy(ofClass, (line) => line[7])].sort((a, b) => b[1].length - a[1].length);
    const hidden = byEvidence.length - GROUPS_SHOWN;
    /** @param {number | null} index */
    const evidence = (index) => (index === null ? 'no evidence was recorded' : (texts[index] ?? ''));
    return element(
      'div',
      { class: 'failure-class' },
      element(
        'h3',
        {},
        element(
          'a',
          {
            href: runAddress(id, { class: name }),
            click: (event) => {
              event.preventDefault();
              choose(name);
            },
          },
          title,
        ),
        element('span', { class: 'note' }, ` ${counted(count, 'case')}`),
      ),
      element(
        'ol',
        { class: 'clusters' },
        byEvidence
          .slice(0, GROUPS_SHOWN)
          .map(([index, all]) =>
            element(
              'li',
              {},
              element('span', { class: 'number' }, all.length),
              element('span', { class: 'evidence' }, evidence(index)),
            ),
          ),
      ),
      hidden > 0
        ? element(
            'p',
            { class: 'note' },
            `And ${counted(hidden, 'other kind')} of evidence; search for it above.`,
          )
        : null,
    );
  });
}
