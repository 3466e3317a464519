import type { Interval } from '../stats/interval.ts';
import { FEWEST_TASKS } from '../stats/population-difference.ts';
import { isEquivalent } from './equivalence.ts';
import { counted, percentNumber, points, pointsRange, pValue } from './format.ts';
import type { Comparison, Summary, Verdict } from './summary.ts';

/** The difference for which a comparison says how many tasks it needs. It is not the observed one (statistics, R3). */
export const PLANNED_DIFFERENCE = 0.1;

/** What was measured of one variant against the baseline. */
export type Measured = Omit<Comparison, 'verdict' | 'sentence' | 'adjusted_p_value'>;
type Known = Omit<Comparison, 'verdict' | 'sentence'>;

/** What a comparison is decided by. */
type Test = { metric: Summary['metric']; alpha: number };
type Unit = Summary['metric']['unit'];

/**
 * A variant is `better` or `worse` for tasks like these only when four things agree:
 * 1. at least four tasks have a result in both arms;
 * 2. the interval of the difference (95 %, or that of the look) excludes 0;
 * 3. p < 0.05 (or the level of the look) after Holm's correction over all comparisons of the report;
 * 4. the interval also excludes 0 if every case without a result came out against the verdict.
 * Else it is `equivalent` when the run declared which differences count as none, and this one is shown to be one. Else it is
 * `inconclusive`.
 */
export function decideVerdict(known: Known, { metric, alpha }: Test): Verdict {
  const { interval, interval_bounds: missing } = known;
  if (isSignificant(known, alpha)) {
    const all = missing ? [interval, missing.against, missing.in_favor] : [interval];
    const [more, less] =
      metric.unit === 'pp' ? (['better', 'worse'] as const) : (['worse', 'better'] as const);
    if (all.every((one) => one !== null && one.low > 0)) return more;
    if (all.every((one) => one !== null && one.high < 0)) return less;
  }
  return isEquivalent(known) ? 'equivalent' : 'inconclusive';
}

function isSignificant({ interval, adjusted_p_value: p }: Known, alpha: number): boolean {
  return interval !== null && excludesNone(interval) && p !== null && p < alpha;
}

function excludesNone(interval: Interval): boolean {
  return interval.low > 0 || interval.high < 0;
}

/** The sentence that explains a verdict: what was found, and for an inconclusive one what would settle it. */
export function explainVerdict(
  known: Known,
  verdict: Verdict,
  { compared, metric, alpha }: Test & { compared: number },
): string {
  const { difference, interval, adjusted_p_value: p, tasks } = known;
  const { unit } = metric;
  // The pass rate goes without saying.
  const what = metric.kind === 'pass_rate' ? '' : `${metric.title} `;
  if (difference === null) {
    return `no task has ${unit === '%' ? 'a known amount over 0' : `a ${what.trimEnd() || 'result'}`} in both arms`;
  }
  if (interval === null || p === null) {
    return `${what}${points(difference)} ${unit} on ${counted(tasks, 'task')}; for tasks like these, fewer than ${FEWEST_TASKS} tasks can settle nothing${onTheseTasks(known)}${differenceAtBounds(known, unit)}${unpaired(known, unit)}`;
  }
  // That of an equivalence is wider where the tasks differ little.
  const shown = verdict === 'equivalent' ? (known.equivalence?.interval ?? interval) : interval;
  const found = `${what}${points(difference)} ${unit} for tasks like these, ${levelOf(shown)} % interval ${pointsRange(shown.low, shown.high, unit)} over ${counted(tasks, 'task')}`;
  const correction = compared > 1 ? ` after Holm's correction for ${compared} comparisons` : '';
  if (verdict === 'equivalent') {
    const allowed = atBothBounds(known.equivalence?.interval_bounds, unit);
    return `${found}, within the declared ±${marginOf(known, unit)}${allowed}${unpaired(known, unit)}`;
  }
  const missing = `${atBothBounds(known.interval_bounds, unit)}${unpaired(known, unit)}`;
  if (verdict !== 'inconclusive') return `${found} (${pValue(p)}${correction})${missing}`;
  if (isSignificant(known, alpha)) {
    return `${found}; but the cases ${lacking(unit)} could change that: with them the interval reaches from ${pointsRange(...reachOf(known.interval_bounds), unit)}${unpaired(known, unit)}`;
  }
  const doubt = excludesNone(interval) ? ` (${pValue(p)}${correction})` : '';
  return `${found}${doubt}; ${outlook(known, unit)}${onTheseTasks(known)}${missing}`;
}

/** What a case lacks that does not count. An amount of 0 has no ratio, though it is a result. */
const lacking = (unit: Unit): string => (unit === '%' ? 'without a known amount over 0' : 'without a result');

/** From the lowest to the highest end of the intervals at both bounds. */
function reachOf(bounds: Comparison['interval_bounds']): [number, number] {
  const ends = [bounds?.against, bounds?.in_favor].flatMap((one) => (one ? [one.low, one.high] : [-1, 1]));
  return [Math.min(...ends), Math.max(...ends)];
}

/** The intervals at both bounds of the missing cases (statistics, R7); empty where every case has a result. */
function atBothBounds(bounds: Comparison['interval_bounds'] | undefined, unit: Unit): string {
  if (!bounds?.against || !bounds.in_favor) return '';
  const [low, high] = reachOf(bounds);
  if (unit === 'pp' && low <= -1 && high >= 1) {
    return '; the cases without a result leave every difference possible';
  }
  const [against, inFavor] = [bounds.against, bounds.in_favor].map((one) =>
    pointsRange(one.low, one.high, unit),
  );
  return `; with all cases ${lacking(unit)} against it ${against}, with all of them for it ${inFavor}`;
}

/** The same of the difference, where too few tasks have a result for an interval. */
const differenceAtBounds = ({ bounds }: Pick<Known, 'bounds'>, unit: Unit): string =>
  bounds === null || bounds[0] === bounds[1]
    ? ''
    : `; with all cases without a result against it ${points(bounds[0])} ${unit}, with all of them for it ${points(bounds[1])} ${unit}`;

/** `95`, `99.7`. */
const levelOf = ({ level }: Interval): string => String(Number((100 * level).toPrecision(3)));

const marginOf = ({ equivalence }: Known, unit: string): string =>
  equivalence ? `${percentNumber(equivalence.margin)} ${unit}` : '';

/** Which differences the tasks could have shown, and how many tasks a difference of 10 pp needs. */
function outlook(known: Known, unit: Unit): string {
  const { tasks, minimum_detectable_difference: smallest, tasks_needed: needed, equivalence } = known;
  const could =
    smallest === null
      ? 'so few tasks cannot show a difference of any size'
      : `${counted(tasks, 'task')} can show differences of ${percentNumber(smallest)} ${unit} or more (80 % power)`;
  const planned =
    needed === null || needed <= tasks
      ? ''
      : `; ${percentNumber(PLANNED_DIFFERENCE)} ${unit} needs about ${counted(needed, 'task')} like these`;
  const same =
    equivalence?.tasks_needed && equivalence.tasks_needed > tasks
      ? `; to show that they differ by less than ${marginOf(known, unit)} takes about ${counted(equivalence.tasks_needed, 'task')}`
      : '';
  return `${could}${planned}${same}`;
}

/** A difference on the tasks that were run, which says nothing about others (statistics, R2). */
function onTheseTasks({ these_tasks_p_value: p }: Known): string {
  return p === null || p >= 0.05
    ? ''
    : `; on these tasks only, the arms do differ (exact permutation, ${pValue(p)})`;
}

function unpaired({ tasks_without_result: tasks }: Known, unit: Unit): string {
  if (tasks.length === 0) return '';
  const named = tasks.slice(0, 5).join(', ') + (tasks.length > 5 ? ' and others' : '');
  return `; ${counted(tasks.length, 'task')} ${lacking(unit)} in one of the arms: ${named}`;
}

/** What bridge trials found; empty where the arms ran side by side, or without any. */
export function bridgeSentence({ bridge }: Pick<Comparison, 'bridge'>, unit: Unit): string {
  if (!bridge) return '';
  const range = bridge.drift_interval
    ? ` (95 % interval ${pointsRange(bridge.drift_interval.low, bridge.drift_interval.high, unit)})`
    : '';
  return `; the baseline is from another day, and bridge trials of ${bridge.variant} on ${counted(bridge.tasks, 'task')} show a drift of ${points(bridge.drift)} ${unit} since${range}, which is taken off`;
}
