import { caseAddress } from './address.js';
import { element } from './element.js';
import {
  counted,
  dollars,
  percentNumber,
  points,
  pointsRange,
  pValue,
  rateWithInterval,
  seconds,
  tokens,
  UNKNOWN,
} from './format.js';
import { badge, fold, link, STATE_WORDS, section, table } from './parts.js';
import { provenance } from './provenance.js';
import { rangeBar } from './range-bar.js';
import { askRun } from './server.js';
import { taskMatrix } from './task-matrix.js';

/** @import { Child } from './element.js' */
/** @import { Page } from './page.js' */
/** @import { RunDetail } from '../../whetstone/src/view/api.ts' */
/** @import { Arm, Comparison, FailureGroup, Summary } from '../../whetstone/src/report/summary.ts' */

const FAILURES_SHOWN = 200;

/**
 * One run: its results, how certain they are, and what they do not show.
 * @param {string} id
 * @returns {Page<RunDetail>}
 */
export function runPage(id) {
  return {
    load: () => askRun(id),
    title: () => `Run ${id}`,
    isLive: (run) => run.state !== 'finished', // a stopped run may be resumed
    draw: (run) => [
      introduction(run),
      arms(run.summary),
      comparisons(run),
      section('Tasks', taskMatrix(run)),
      failures(run),
      section(
        'What this does not show',
        element(
          'ul',
          {},
          run.summary.caveats.map((caveat) => element('li', {}, caveat)),
        ),
      ),
      section('Provenance', provenance(run)),
    ],
  };
}

/** @param {RunDetail} run */
function introduction({ id, state, summary }) {
  const { cases, headline } = summary;
  const counts = [
    badge(`${cases.passed} passed`, 'passed'),
    badge(`${cases.failed} failed`, 'failed'),
    cases.error > 0 ? badge(counted(cases.error, 'error'), 'error') : null,
    cases.skipped > 0 ? badge(`${cases.skipped} skipped`, 'missing') : null,
    cases.not_run > 0 ? badge(`${cases.not_run} not run after a pass`, 'missing') : null,
    cases.missing > 0 ? badge(`${cases.missing} not finished`, 'missing') : null,
  ];
  return [
    element('nav', { 'aria-label': 'Breadcrumb' }, link('#/', 'Runs')),
    element('h1', {}, `Run ${id}`),
    element('p', { class: 'lead' }, headline),
    element(
      'p',
      { class: 'badges' },
      `${counted(cases.planned, 'case')}: `,
      counts,
      badge(STATE_WORDS[state], state),
    ),
    state === 'running'
      ? element('progress', { max: cases.planned, value: cases.finished, 'aria-label': 'Finished cases' })
      : null,
  ];
}

/** @param {string} text */
const capitalized = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** @type {Record<Summary['metric']['kind'], string>} */
const MEANINGS = {
  pass_rate: 'The mean over tasks of the share of passed trials',
  score: 'The mean over tasks of the share of the points',
  pass_at_k: 'The share of tasks of which any trial passed; after a pass, the others do not run',
};

/** @param {Summary} summary */
function arms({ arms: all, metric }) {
  const title = metric.kind === 'pass_rate' ? 'Pass rates' : capitalized(metric.title);
  const columns = [
    { head: 'Agent' },
    { head: 'Variant' },
    { head: `${capitalized(metric.title)}, 95 % interval` },
    { head: '0 to 100 %' },
    { head: 'Passed', number: true },
    { head: 'Without result', number: true },
    { head: 'Agent time', number: true },
    { head: 'Files', number: true },
    { head: 'Tokens', number: true },
    { head: 'Cost', number: true },
    { head: 'Cost per pass', number: true },
  ];
  const rows = all.map((arm) => {
    const { value, interval, bounds } = arm.primary;
    const rate = rateWithInterval(value, interval);
    return [
      arm.agent,
      arm.variant,
      element('span', { class: 'unbroken' }, rate),
      rangeBar({
        scale: [0, 1],
        estimate: value,
        interval,
        bounds,
        label: bounds ? `${rate}; bounds ${percentNumber(bounds[0])} to ${percentNumber(bounds[1])} %` : rate,
      }),
      `${arm.passed}/${arm.trials}`,
      arm.error + arm.missing,
      seconds(arm.median_agent_seconds),
      arm.mean_changed_files?.toFixed(1) ?? UNKNOWN,
      tokens(arm.total_tokens, arm.tokens_unknown),
      dollars(arm.cost_usd, arm.cost_unknown),
      dollars(arm.cost_per_pass_usd),
    ];
  });
  return section(
    title,
    table(title, columns, rows),
    element(
      'p',
      { class: 'note' },
      `${MEANINGS[metric.kind]}; its interval takes tasks as clusters. The pale band is the range over all planned cases that the cases without a result still allow. Agent time: median. Files: mean.`,
    ),
    passAtK(all),
  );
}

/**
 * @param {readonly Arm[]} all
 * @returns {Child}
 */
function passAtK(all) {
  const sentences = all.flatMap(({ agent, variant, pass_at_k: several }) =>
    several === null || several.all === null
      ? []
      : `${agent}, ${variant}: pass@${several.k} ${percentNumber(several.any)} %, pass^${several.k} ${percentNumber(several.all)} %.`,
  );
  return sentences.length === 0
    ? null
    : element(
        'ul',
        { class: 'note' },
        sentences.map((one) => element('li', {}, one)),
      );
}

/**
 * @param {RunDetail} run
 * @returns {Child}
 */
function comparisons({ summary }) {
  if (summary.comparisons.length === 0) return null;
  const columns = [
    { head: 'Agent' },
    { head: 'Variant' },
    { head: 'Verdict' },
    { head: 'Difference', number: true },
    { head: '95 % interval' },
    { head: '−100 to +100 pp' },
    { head: 'p, corrected' },
    { head: 'Tasks', number: true },
  ];
  return section(
    `Against ${summary.baseline}`,
    table('Comparisons', columns, summary.comparisons.map(comparisonCells)),
    element(
      'ul',
      {},
      summary.comparisons.map((one) => element('li', {}, `${one.agent}, ${one.variant}: ${one.sentence}.`)),
    ),
    element(
      'p',
      { class: 'note' },
      "Paired by task, for tasks like these. A variant is better or worse only when the 95 % interval excludes 0 over at least four tasks, p < 0.05 after Holm's correction over all comparisons, and the cases without a result could not change that.",
    ),
  );
}

/** @param {Comparison} one */
function comparisonCells(one) {
  const difference = one.difference === null ? UNKNOWN : `${points(one.difference)} pp`;
  const interval = one.interval === null ? UNKNOWN : pointsRange(one.interval.low, one.interval.high);
  return [
    one.agent,
    one.variant,
    badge(one.verdict, one.verdict),
    element('span', { class: 'unbroken' }, difference),
    element('span', { class: 'unbroken' }, interval),
    rangeBar({
      scale: [-1, 1],
      mark: 0,
      estimate: one.difference,
      interval: one.interval,
      bounds: one.bounds,
      label: `${difference}, interval ${interval}${one.bounds ? `, bounds ${pointsRange(...one.bounds)}` : ''}`,
    }),
    element(
      'span',
      { class: 'unbroken' },
      one.adjusted_p_value === null ? UNKNOWN : pValue(one.adjusted_p_value),
    ),
    one.tasks,
  ];
}

/**
 * @param {RunDetail} run
 * @returns {Child}
 */
function failures({ id, summary }) {
  if (summary.failures.length === 0) return null;
  return section(
    'Not passed',
    summary.failures.map((group) => failureGroup(id, group)),
  );
}

/**
 * @param {string} run
 * @param {FailureGroup} group
 */
function failureGroup(run, group) {
  const hidden = group.count - FAILURES_SHOWN;
  return fold(
    `failures ${group.class}`,
    [element('strong', {}, group.title), ` ${counted(group.count, 'case')}`],
    true,
    element(
      'ul',
      { class: 'failures' },
      group.cases
        .slice(0, FAILURES_SHOWN)
        .map((one) =>
          element(
            'li',
            {},
            link(
              caseAddress(run, one.case_id),
              `${one.agent} · ${one.task} · ${one.variant} · trial ${one.trial}`,
            ),
            element('div', { class: 'evidence' }, one.evidence),
          ),
        ),
    ),
    hidden > 0 ? element('p', { class: 'note' }, `And ${hidden} more; the marks above link to them.`) : null,
  );
}
