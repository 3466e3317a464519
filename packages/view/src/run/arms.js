import { element } from '../parts/element.js';
import { dollars, percentNumber, rateWithInterval, seconds, tokens, UNKNOWN } from '../parts/format.js';
import { section, table } from '../parts/parts.js';
import { rangeBar } from '../parts/range-bar.js';

/** @import { Child } from '../parts/element.js' */
/** @import { Arm, Summary } from '../../../whetstone/src/report/summary.ts' */

/** @type {Record<Summary['metric']['kind'], string>} */
const MEANINGS = {
  pass_rate: 'The mean over tasks of the share of passed trials',
  score: 'The mean over tasks of the share of the points',
  cost: 'The mean over tasks of US dollars per case; the pass rate is the mean over tasks of the share of passed trials',
  tokens:
    'The mean over tasks of tokens per case; the pass rate is the mean over tasks of the share of passed trials',
  seconds:
    'The mean over tasks of the seconds of the agent per case; the pass rate is the mean over tasks of the share of passed trials',
  pass_at_k: 'The share of tasks of which any trial passed; after a pass, the others do not run',
};

/** @param {string} text */
const capitalized = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/**
 * What each arm came to.
 * @param {Pick<Summary, 'arms' | 'metric'>} summary
 */
export function arms({ arms: all, metric }) {
  const isAmount = metric.unit === '%';
  const title = metric.kind === 'pass_rate' || isAmount ? 'Pass rates' : capitalized(metric.title);
  const columns = [
    { head: 'Variant' },
    { head: 'Agent' },
    ...(isAmount ? [{ head: capitalized(metric.title), number: true }] : []),
    { head: `${isAmount ? 'Pass rate' : capitalized(metric.title)}, 95 % interval` },
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
    const { value, interval, bounds } = isAmount
      ? { value: arm.pass_rate, interval: arm.pass_rate_interval, bounds: arm.bounds }
      : arm.primary;
    const rate = rateWithInterval(value, interval);
    return [
      arm.variant,
      arm.agent,
      ...(isAmount ? [amount(metric.kind, arm.primary)] : []),
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
      `${MEANINGS[metric.kind]}; its interval takes tasks as clusters. The pale band is the range over all planned cases that the cases without a result still allow. Agent time: median per case. Files: mean per case. Tokens and cost: totals of the cases.`,
    ),
    passAtK(all),
  );
}

/**
 * @param {Summary['metric']['kind']} kind
 * @param {Arm['primary']} primary
 */
function amount(kind, { value, missing }) {
  if (kind === 'seconds') return seconds(value);
  return kind === 'cost' ? dollars(value, missing) : tokens(value, missing);
}

/**
 * @param {readonly Arm[]} all
 * @returns {Child}
 */
function passAtK(all) {
  const sentences = all.flatMap(({ agent, variant, pass_at_k: several }) =>
    several === null || several.all === null
      ? []
      : `${agent}, ${variant}: pass@${several.k} ${rateWithInterval(several.any, several.any_interval)}, pass^${several.k} ${rateWithInterval(several.all, several.all_interval)}.`,
  );
  return sentences.length === 0
    ? null
    : element(
        'ul',
        { class: 'note' },
        sentences.map((one) => element('li', {}, one)),
      );
}
