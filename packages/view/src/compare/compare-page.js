import { compareAddress, runAddress } from '../app/address.js';
import { askComparison, askRun, askRuns } from '../app/server.js';
import { element } from '../parts/element.js';
import { counted } from '../parts/format.js';
import { badge, link, section, table } from '../parts/parts.js';
import { verdicts } from '../run/verdict.js';
import { amountRatios, armRates, failureCounts, flips } from './comparison-tables.js';
import { sidePicker } from './side-picker.js';

/** @import { Keys, Page } from '../app/page.js' */
/** @import { SideName } from '../app/address.js' */
/** @import { RunComparison } from '../../../whetstone/src/report/run-comparison.ts' */
/** @import { ReadableRun, RunDetail } from '../../../whetstone/src/view/api.ts' */

/** `problem`: why the two cannot be compared. @typedef {{ runs: ReadableRun[], a: SideName, b: SideName, of: RunDetail[], comparison: RunComparison | null, problem: string | null }} Compared */

/**
 * Two runs, or arms of runs, side by side. Without a choice in the address, the two newest runs.
 * @param {URLSearchParams} params
 * @returns {Page<Compared>}
 */
export function comparePage(params) {
  return {
    load: () => loadComparison(params),
    title: () => 'Compare',
    path: () => [link('#/', 'Runs'), element('span', { 'aria-current': 'page' }, 'Compare')],
    isLive: ({ of }) => of.some(({ state }) => state === 'running'),
    draw: (data, keys) => {
      keys.set('x', { does: 'Swap the two sides', press: () => go(data.b, data.a) });
      return [
        element('h1', {}, 'Compare'),
        picker(data),
        data.problem === null
          ? null
          : element(
              'p',
              { class: 'problem', role: 'alert' },
              `${data.problem} Choose two arms of one run, or two runs of the same tasks.`,
            ),
        data.comparison === null ? null : comparisonOf(data, data.comparison),
      ];
    },
  };
}

/**
 * @param {SideName} a
 * @param {SideName} b
 */
function go(a, b) {
  location.hash = compareAddress(a, b);
}

/** @param {Compared} data */
function picker({ runs, a, b }) {
  if (runs.length === 0) return element('p', {}, 'There is no run yet.');
  return element(
    'div',
    { class: 'picker' },
    sidePicker('A, before', runs, a, (side) => go(side, b)),
    element(
      'button',
      { type: 'button', title: 'Swap (x)', 'aria-label': 'Swap the two sides', click: () => go(b, a) },
      '⇄',
    ),
    sidePicker('B, after', runs, b, (side) => go(a, side)),
  );
}

/**
 * @param {Compared} data
 * @param {RunComparison} comparison
 */
function comparisonOf({ of }, comparison) {
  const { pairs, pooled, metric, left_out: leftOut, differences, excluded_tasks: excluded } = comparison;
  const [a, b] = of;
  return [
    leftOut.length === 0
      ? null
      : element(
          'p',
          { class: 'problem' },
          badge('Exploratory', 'warn'),
          ' ',
          leftOut.join(' '),
          ' Somebody who has seen the results may have chosen what stays.',
        ),
    verdicts({
      comparisons: [...pairs.map((pair) => pair.comparison), ...pooled],
      baseline: comparison.a.label,
      metric,
    }),
    armRates(pairs),
    amountRatios(pairs),
    a && b ? flips(pairs, a, b) : null,
    failureCounts(pairs),
    differences.length === 0
      ? null
      : section(
          'What else differs between the runs',
          table(
            'What else differs between the runs',
            [{ head: 'What' }, { head: 'A' }, { head: 'B' }],
            differences.map((one) => [one.what, one.a ?? 'not known', one.b ?? 'not known']),
          ),
        ),
    excluded.length === 0
      ? null
      : section(
          'Tasks that are not compared',
          table(
            'Tasks that are not compared',
            [{ head: 'Task' }, { head: 'Why' }],
            excluded.map((one) => [one.task, one.why === 'changed' ? 'its content differs' : one.why]),
          ),
        ),
    comparison.unpaired_arms.length === 0
      ? null
      : element(
          'p',
          { class: 'note' },
          `${counted(comparison.unpaired_arms.length, 'arm')} without a counterpart: ${comparison.unpaired_arms.map((one) => `${one.agent}/${one.variant} of ${one.side.toUpperCase()}`).join(', ')}.`,
        ),
    section(
      'What this does not show',
      element(
        'ul',
        { class: 'caveats' },
        [...comparison.exposure, ...comparison.caveats].map((caveat) => element('li', {}, caveat)),
      ),
    ),
    element(
      'p',
      { class: 'note' },
      'The runs: ',
      link(runAddress(comparison.a.run_id), comparison.a.run_id),
      ', ',
      link(runAddress(comparison.b.run_id), comparison.b.run_id),
    ),
  ];
}

/** @type {Compared | undefined} */
let last;

/**
 * Returns the same object as before while nothing has changed.
 * @param {URLSearchParams} params
 * @returns {Promise<Compared>}
 */
async function loadComparison(params) {
  const list = await askRuns();
  const runs = list.runs.flatMap((run) => (run.problem === null ? run : []));
  const [a, b] = sidesOf(params, runs);
  if (a.run === '' || b.run === '') return { runs, a, b, of: [], comparison: null, problem: null };
  const of = await Promise.all([askRun(a.run), askRun(b.run)]);
  const isSame = last?.a.arm === a.arm && last?.b.arm === b.arm && of.every((one, i) => last?.of[i] === one);
  if (last && isSame && runs.length === last.runs.length) return last;
  const asked = await Promise.resolve()
    .then(() => askComparison(a, b))
    .then(
      (comparison) => ({ comparison, problem: null }),
      (error) => ({ comparison: null, problem: String(error.message) }),
    );
  last = { runs, a, b, of, ...asked };
  return last;
}

/**
 * What the address says; else two arms of the newest run, if it has two variants, or the two newest runs.
 * @param {URLSearchParams} params
 * @param {readonly ReadableRun[]} runs
 * @returns {[SideName, SideName]}
 */
function sidesOf(params, runs) {
  const [a, b] = [params.get('a'), params.get('b')];
  if (a !== null || b !== null) {
    const side = (/** @type {string | null} */ run, /** @type {string} */ name) => ({
      run: run ?? runs[0]?.id ?? '',
      arm: params.get(name) ?? undefined,
    });
    return [side(a, 'arm-a'), side(b, 'arm-b')];
  }
  const [newest, before] = runs;
  const [one, other] = newest?.variants ?? [];
  if (newest && one !== undefined && other !== undefined)
    return [
      { run: newest.id, arm: one },
      { run: newest.id, arm: other },
    ];
  return [{ run: before?.id ?? newest?.id ?? '' }, { run: newest?.id ?? '' }];
}
