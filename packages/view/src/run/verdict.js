import { element, svgElement } from '../parts/element.js';
import { counted, percentNumber, points, pointsRange, pValue, UNKNOWN } from '../parts/format.js';
import { badge } from '../parts/parts.js';

/** @import { Child } from '../parts/element.js' */
/** @import { Comparison, Summary } from '../../../whetstone/src/report/summary.ts' */

/** The ends that a scale can have, as shares. */
const ENDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];

/**
 * The verdict of each comparison: a plain sentence, the difference with its interval on one scale for all, and what would
 * settle it.
 * @param {Pick<Summary, 'comparisons' | 'baseline' | 'metric'>} summary
 * @param {(one: Comparison) => Child} [more] What follows the name of the agent.
 */
export function verdicts({ comparisons, baseline, metric: { unit } }, more = () => null) {
  if (comparisons.length === 0) return null;
  const end = scaleEnd(comparisons);
  return element(
    'section',
    { class: 'verdicts', 'aria-label': `Against ${baseline}` },
    comparisons.map((one) => verdict(one, { end, unit }, more(one))),
    element(
      'p',
      { class: 'note' },
      'Paired by task, for tasks like these. The bar is the interval, of 95 % unless the sentence says otherwise; the pale band is what the cases without a result still allow. A variant is better or worse only when the interval excludes 0 over at least four tasks, p < 0.05 after Holm’s correction over all comparisons, and the cases without a result could not change that. It is equivalent only within a margin that was declared before the run.',
    ),
  );
}

/** @type {Record<Comparison['verdict'], string>} */
const WORDS = { better: 'Better', worse: 'Worse', equivalent: 'Equivalent', inconclusive: 'Not settled' };

/** @typedef {{ end: number, unit: Summary['metric']['unit'] }} Scale */

/**
 * @param {Comparison} one
 * @param {Scale} scale
 * @param {Child} more
 */
function verdict(one, scale, more) {
  const known = one.difference !== null;
  return element(
    'article',
    { class: `verdict ${one.verdict}` },
    element(
      'header',
      {},
      badge(WORDS[one.verdict], one.verdict),
      element('h2', {}, headline(one)),
      element('span', { class: 'note' }, one.agent),
      more,
    ),
    element(
      'p',
      { class: 'delta' },
      known ? points(one.difference ?? 0) : UNKNOWN,
      known ? element('small', {}, ` ${scale.unit}`) : null,
    ),
    interval(one, scale),
    element('p', { class: 'sentence' }, sentenceOf(one)),
    element(
      'ul',
      { class: 'settles' },
      settles(one, scale.unit).map((text) => element('li', {}, text)),
    ),
  );
}

/** @param {Comparison} one */
const sentenceOf = ({ sentence, verdict: found }) => {
  const text = sentence.startsWith(`${found}: `) ? sentence.slice(found.length + 2) : sentence;
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
};

/** @param {Comparison} one */
function headline({ verdict: found, variant, baseline }) {
  if (found === 'inconclusive') return `${variant} may be better or worse than ${baseline}`;
  if (found === 'equivalent') return `${variant} and ${baseline} are equivalent`;
  return `${variant} is ${found} than ${baseline}`;
}

/**
 * What a comparison rests on and, if it is not settled, what would settle it.
 * @param {Comparison} one
 * @param {Scale['unit']} unit
 */
function settles(one, unit) {
  const { tasks, tasks_needed: needed, minimum_detectable_difference: smallest } = one;
  const isOpen = one.verdict === 'inconclusive';
  return [
    `${counted(tasks, 'task')}`,
    one.adjusted_p_value === null ? null : `${pValue(one.adjusted_p_value)}, corrected`,
    isOpen && smallest !== null ? `can show ${percentNumber(smallest)} ${unit} or more` : null,
    isOpen && needed !== null && needed > tasks
      ? `to settle 10 ${unit}: about ${counted(needed, 'task')}`
      : null,
    isOpen && one.interval === null ? 'to settle anything: four tasks or more' : null,
    one.tasks_without_result.length > 0
      ? `${counted(one.tasks_without_result.length, 'task')} without a ${unit === '%' ? 'known amount over 0' : 'result'} in one of the arms`
      : null,
  ].filter((text) => text !== null);
}

/** @param {readonly Comparison[]} comparisons */
function scaleEnd(comparisons) {
  const reach = comparisons.flatMap(({ difference, interval: range, bounds }) =>
    [difference, range?.low, range?.high, ...(bounds ?? [])].map((value) => Math.abs(value ?? 0)),
  );
  return ENDS.find((end) => Math.max(0, ...reach) <= end) ?? 10;
}

/**
 * @param {Comparison} one
 * @param {Scale} scale
 */
function interval({ difference, interval: range, bounds, equivalence }, { end, unit }) {
  /** @param {number} value */
  const x = (value) => `${(50 + 46 * Math.min(1, Math.max(-1, value / end))).toFixed(2)}%`;
  /** @param {string} name @param {number} low @param {number} high @param {number} height */
  const bar = (name, low, high, height) =>
    svgElement('line', {
      ...{ class: name, x1: x(low), x2: x(high), y1: 22, y2: 22 },
      'stroke-width': height,
    });
  const ticks = [-1, -0.5, 0, 0.5, 1].map((share) => [
    svgElement('line', {
      class: share === 0 ? 'zero' : 'tick',
      x1: x(share * end),
      x2: x(share * end),
      y1: 6,
      y2: 38,
    }),
    svgElement('text', { x: x(share * end), y: 54, 'text-anchor': 'middle' }, points(share * end)),
  ]);
  const label = [
    `difference ${difference === null ? UNKNOWN : `${points(difference)} ${unit}`}`,
    range ? `interval ${pointsRange(range.low, range.high, unit)}` : 'no interval',
    bounds ? `bounds ${pointsRange(...bounds, unit)}` : '',
  ];
  return svgElement(
    'svg',
    {
      class: 'interval-plot',
      height: 58,
      width: '100%',
      role: 'img',
      'aria-label': label.filter(Boolean).join(', '),
    },
    ticks.flat(),
    equivalence ? bar('margin', -equivalence.margin, equivalence.margin, 32) : null,
    bounds && bounds[0] < bounds[1] ? bar('bounds', bounds[0], bounds[1], 22) : null,
    range ? bar('interval', range.low, range.high, 8) : null,
    range ? [cap(x(range.low)), cap(x(range.high))] : null,
    difference === null ? null : svgElement('circle', { class: 'estimate', cx: x(difference), cy: 22, r: 7 }),
  );
}

/** @param {string} x */
const cap = (x) => svgElement('line', { class: 'cap', x1: x, x2: x, y1: 15, y2: 29 });
