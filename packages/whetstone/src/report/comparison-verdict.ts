import type { Interval } from '../stats/interval.ts';
import { FEWEST_TASKS } from '../stats/population-difference.ts';
import { counted, percentNumber, points, pointsRange, pValue } from './format.ts';
import type { Comparison, Summary } from './summary.ts';

/** The difference for which a comparison says how many tasks it needs. It is not the observed one (statistics, R3). */
export const PLANNED_DIFFERENCE = 0.1;

/** What was measured of one variant against the baseline. */
export type Measured = Omit<Comparison, 'verdict' | 'sentence' | 'adjusted_p_value'>;
type Known = Omit<Comparison, 'verdict' | 'sentence'>;

/**
 * A variant is `better` or `worse` for tasks like these only when four things agree, else it is `inconclusive`:
 * 1. at least four tasks have a result in both arms;
 * 2. the 95 % interval of the difference excludes 0;
 * 3. p < 0.05 after Holm's correction over all comparisons of the report;
 * 4. the interval also excludes 0 if every case without a result came out against the verdict.
 */
export function decideVerdict(known: Known): Comparison['verdict'] {
  const { interval, interval_bounds: missing } = known;
  if (interval === null || !isSignificant(known)) return 'inconclusive';
  const [lowest, highest] = missing ? [missing.against, missing.in_favor] : [interval, interval];
  if (interval.low > 0 && (lowest?.low ?? -1) > 0) return 'better';
  if (interval.high < 0 && (highest?.high ?? 1) < 0) return 'worse';
  return 'inconclusive';
}

function isSignificant({ interval, adjusted_p_value: p }: Known): boolean {
  return interval !== null && excludesNone(interval) && p !== null && p < 0.05;
}

function excludesNone(interval: Interval): boolean {
  return interval.low > 0 || interval.high < 0;
}

/** The sentence that explains a verdict: what was found, and for an inconclusive one what would settle it. */
export function explainVerdict(
  known: Known,
  verdict: Comparison['verdict'],
  { compared, metric }: { compared: number; metric: Summary['metric'] },
): string {
  const { difference, interval, adjusted_p_value: p, tasks } = known;
  // The pass rate goes without saying.
  const what = metric.kind === 'pass_rate' ? '' : `${metric.title} `;
  if (difference === null) return `no task has a ${what.trimEnd() || 'result'} in both arms`;
  if (interval === null || p === null) {
    return `${what}${points(difference)} pp on ${counted(tasks, 'task')}; for tasks like these, fewer than ${FEWEST_TASKS} tasks can settle nothing${onTheseTasks(known)}`;
  }
  const found = `${what}${points(difference)} pp for tasks like these, 95 % interval ${pointsRange(interval.low, interval.high)} over ${counted(tasks, 'task')}`;
  const correction = compared > 1 ? ` after Holm's correction for ${compared} comparisons` : '';
  if (verdict !== 'inconclusive') return `${found} (${pValue(p)}${correction})${unpaired(known)}`;
  if (isSignificant(known)) {
    const { against, in_favor: inFavor } = known.interval_bounds ?? {};
    const range = pointsRange(against?.low ?? -1, inFavor?.high ?? 1);
    return `${found}; but the cases without a result could change that: with them the interval reaches from ${range}${unpaired(known)}`;
  }
  const doubt = excludesNone(interval) ? ` (${pValue(p)}${correction})` : '';
  return `${found}${doubt}; ${outlook(known)}${onTheseTasks(known)}${unpaired(known)}`;
}

/** Which differences the tasks could have shown, and how many tasks a difference of 10 pp needs. */
function outlook({ tasks, minimum_detectable_difference: smallest, tasks_needed: needed }: Known): string {
  const could =
    smallest === null
      ? 'so few tasks cannot show a difference of any size'
      : `${counted(tasks, 'task')} can show differences of ${percentNumber(smallest)} pp or more (80 % power)`;
  if (needed === null || needed <= tasks) return could;
  return `${could}; ${percentNumber(PLANNED_DIFFERENCE)} pp needs about ${counted(needed, 'task')} like these`;
}

/** A difference on the tasks that were run, which says nothing about others (statistics, R2). */
function onTheseTasks({ these_tasks_p_value: p }: Known): string {
  return p === null || p >= 0.05
    ? ''
    : `; on these tasks alone, the arms do differ (exact permutation, ${pValue(p)})`;
}

function unpaired({ tasks_without_result: tasks }: Known): string {
  if (tasks.length === 0) return '';
  const named = tasks.slice(0, 5).join(', ') + (tasks.length > 5 ? ' and others' : '');
  return `; ${counted(tasks.length, 'task')} without a result in one of the arms: ${named}`;
}
