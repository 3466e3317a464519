import { pairAddress } from '../app/address.js';
import { element } from '../parts/element.js';
import { points, rateWithInterval, UNKNOWN } from '../parts/format.js';
import { link, section, table } from '../parts/parts.js';
import { rangeBar } from '../parts/range-bar.js';

/** @import { PairComparison } from '../../../whetstone/src/report/run-comparison.ts' */
/** @import { Arm } from '../../../whetstone/src/report/summary.ts' */
/** @import { RunDetail } from '../../../whetstone/src/view/api.ts' */

/**
 * What each arm came to, A above its counterpart B, on one scale.
 * @param {readonly PairComparison[]} pairs
 */
export function armRates(pairs) {
  const rows = pairs.flatMap(({ a, b }) =>
    [
      { side: 'A', arm: a },
      { side: 'B', arm: b },
    ].map(({ side, arm }) => rateRow(side, arm)),
  );
  const columns = [
    { head: 'Side' },
    { head: 'Variant' },
    { head: 'Agent' },
    { head: 'Pass rate, 95 % interval' },
    { head: '0 to 100 %' },
    { head: 'Passed', number: true },
    { head: 'Without result', number: true },
  ];
  return section('Both sides', table('Both sides', columns, rows));
}

/**
 * @param {string} side
 * @param {Arm} arm
 */
function rateRow(side, arm) {
  const rate = rateWithInterval(arm.pass_rate, arm.pass_rate_interval);
  return [
    side,
    arm.variant,
    arm.agent,
    element('span', { class: 'unbroken' }, rate),
    rangeBar({
      scale: [0, 1],
      estimate: arm.pass_rate,
      interval: arm.pass_rate_interval,
      bounds: arm.bounds,
      label: rate,
    }),
    `${arm.passed}/${arm.trials}`,
    arm.error + arm.missing,
  ];
}

/** The scale of ratios: a quarter to four times as much. */
const REACH = Math.log(4);

/**
 * How many times as much B takes as A, each with its interval to scale.
 * @param {readonly PairComparison[]} pairs
 */
export function amountRatios(pairs) {
  const rows = pairs.flatMap(({ a, b, ratios }) =>
    Object.entries(ratios).flatMap(([what, ratio]) => {
      if (ratio === null) return [];
      const { interval } = ratio;
      const shown = `${times(ratio.ratio)}${interval ? ` [${times(interval.low)}, ${times(interval.high)}]` : ''}`;
      return [
        [
          what,
          armsOf(a, b),
          element('span', { class: 'unbroken' }, shown),
          rangeBar({
            scale: [-REACH, REACH],
            estimate: Math.log(ratio.ratio),
            interval: interval && { low: Math.log(interval.low), high: Math.log(interval.high) },
            bounds: null,
            mark: 0,
            label: shown,
          }),
          ratio.tasks,
        ],
      ];
    }),
  );
  if (rows.length === 0) return null;
  const columns = [
    { head: 'Amount' },
    { head: 'Arms' },
    { head: 'B takes, 95 % interval' },
    { head: '× ¼ to × 4' },
    { head: 'Tasks', number: true },
  ];
  return section(
    'Cost, tokens and time',
    table('Cost, tokens and time', columns, rows),
    element(
      'p',
      { class: 'note' },
      'Geometric mean over tasks. Exploratory: only the declared metric makes a verdict.',
    ),
  );
}

/** @param {number} value */
const times = (value) => `× ${value.toFixed(2)}`;

/**
 * @param {Arm} a
 * @param {Arm} b
 */
function armsOf(a, b) {
  if (a.agent === b.agent && a.variant === b.variant) return `${b.agent}, ${b.variant}`;
  if (a.agent === b.agent) return `${b.agent}, ${a.variant} → ${b.variant}`;
  if (a.variant === b.variant) return `${b.variant}, ${a.agent} → ${b.agent}`;
  return `${a.agent}/${a.variant} → ${b.agent}/${b.variant}`;
}

/**
 * The tasks whose pass rate differs, each with two of its cases side by side.
 * @param {readonly PairComparison[]} pairs
 * @param {RunDetail} ofA
 * @param {RunDetail} ofB
 */
export function flips(pairs, ofA, ofB) {
  const [casesOfA, casesOfB] = [ofA, ofB].map(casesByCell);
  const rows = pairs.flatMap((pair) =>
    pair.flips.map(({ task, a, b }) => {
      const isGain = b.passed / b.trials > a.passed / a.trials;
      const before = casesOfA?.(pair.a, task, isGain ? 'failed' : 'passed');
      const after = casesOfB?.(pair.b, task, isGain ? 'passed' : 'failed');
      return [
        task,
        armsOf(pair.a, pair.b),
        `${a.passed}/${a.trials}`,
        `${b.passed}/${b.trials}`,
        element(
          'span',
          { class: isGain ? 'gain' : 'loss' },
          `${points(b.passed / b.trials - a.passed / a.trials)} pp`,
        ),
        before === undefined || after === undefined
          ? UNKNOWN
          : link(pairAddress({ run: ofA.id, case: before }, { run: ofB.id, case: after }), 'Side by side'),
      ];
    }),
  );
  if (rows.length === 0) return section('Flipped tasks', element('p', {}, 'No task has another pass rate.'));
  const columns = [
    { head: 'Task' },
    { head: 'Arms' },
    { head: 'A passed', number: true },
    { head: 'B passed', number: true },
    { head: 'Difference', number: true },
    { head: 'Two of its cases' },
  ];
  return section('Flipped tasks', table('Flipped tasks', columns, rows));
}

/**
 * Finds a case of an arm and a task, with the wanted outcome if there is one.
 * @param {RunDetail} run
 */
function casesByCell({ cases: { texts, lines } }) {
  const cells = Map.groupBy(lines, ([, agent, task, variant]) =>
    JSON.stringify([texts[agent], texts[task], texts[variant]]),
  );
  return (/** @type {Arm} */ arm, /** @type {string} */ task, /** @type {string} */ outcome) => {
    const cell = cells.get(JSON.stringify([arm.agent, task, arm.variant])) ?? [];
    return (cell.find((line) => line[5] === outcome) ?? cell[0])?.[0];
  };
}

/** @param {readonly PairComparison[]} pairs */
export function failureCounts(pairs) {
  const rows = pairs.flatMap((pair) =>
    pair.failures.map(({ title, a, b }) => [title, armsOf(pair.a, pair.b), a, b]),
  );
  if (rows.length === 0) return null;
  const columns = [
    { head: 'Class' },
    { head: 'Arms' },
    { head: 'A', number: true },
    { head: 'B', number: true },
  ];
  return section('Why cases did not pass', table('Why cases did not pass', columns, rows));
}
