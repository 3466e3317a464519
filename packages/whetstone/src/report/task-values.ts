import { WhetstoneError } from '@whetstone/errors';
import type { Manifest } from '../record/manifest.ts';
import { clusteredWilson } from '../stats/wilson-interval.ts';
import { type CaseResult, isSkipped } from './case-results.ts';
import type { Estimate, Metric, Summary } from './summary.ts';

/** What the comparisons of a run are about, declared before its first case. Runs of older versions have the pass rate. */
export const metricOf = ({ metric = 'pass_rate' }: Manifest): Metric => metric;

/** The name of a metric as a report has it: `pass rate`, `score`, `pass@3`. */
export const metricTitle = (metric: Metric, trials: number): string =>
  ({ pass_rate: 'pass rate', score: 'score', pass_at_k: `pass@${trials}` })[metric];

/**
 * The values of each task, from 0 to 1, by task id: one per trial, and for `pass_at_k` one for all trials together. What is
 * not known is left out, unless `unknown` says what it counts as. Skipped trials never count, and a task without a value
 * is left out.
 */
export function taskValues(
  cases: readonly CaseResult[],
  metric: Metric,
  unknown?: 0 | 1,
): Map<string, number[]> {
  const byTask = Map.groupBy(
    cases.filter((one) => !isSkipped(one)),
    (one) => one.task_id,
  );
  const values = [...byTask].map(([task, trials]): [string, number[]] => {
    const all = metric === 'pass_at_k' ? [passedAny(trials)] : trials.map(VALUES[metric]);
    return [task, all.flatMap((value) => value ?? unknown ?? [])];
  });
  return new Map(values.filter(([, all]) => all.length > 0));
}

const passed = ({ row }: CaseResult): number | undefined =>
  row === null || row.outcome === 'error' ? undefined : row.outcome === 'passed' ? 1 : 0;

const VALUES = { pass_rate: passed, score: ({ share }: CaseResult) => share };

/** Whether any trial passed. Trials after the first pass change nothing, so that they need not run. */
function passedAny(trials: readonly CaseResult[]): number | undefined {
  const values = trials.map(passed);
  if (values.includes(1)) return 1;
  return values.includes(undefined) ? undefined : 0;
}

export type TaskCount = { passed: number; trials: number };

/** Passed trials and trials of each task, by task id. */
export const taskCounts = (cases: readonly CaseResult[]): Map<string, TaskCount> =>
  new Map(
    [...taskValues(cases, 'pass_rate')].map(([task, values]) => [
      task,
      { passed: sum(values), trials: values.length },
    ]),
  );

/**
 * For what needs the outcomes of all trials.
 * @throws WhetstoneError `run-metric` for a run with early exit
 */
export function requireAllTrials({ early_exit, run_id }: Manifest): void {
  if (!early_exit) return;
  throw new WhetstoneError(
    'run-metric',
    `The trials of run ${run_id} ended with the first pass, so that there is no pass rate.`,
    {
      hint: 'Use a run in which all trials ran: whetstone exp --no-early-exit.',
    },
  );
}

/**
 * The metric that two runs are compared by.
 * @throws WhetstoneError `run-metric` where they declare different ones
 */
export function commonMetric(a: Manifest, b: Manifest): Summary['metric'] {
  const [ofA, ofB] = [a, b].map((manifest) => metricTitle(metricOf(manifest), manifest.trials));
  const kind = metricOf(a);
  // Only pass@k depends on the number of trials.
  if (kind === metricOf(b) && (kind !== 'pass_at_k' || ofA === ofB)) return { kind, title: ofA ?? '' };
  throw new WhetstoneError('run-metric', `The runs declare different metrics: ${ofA} and ${ofB}.`, {
    hint: 'A metric that is chosen after the results proves nothing: run both with the same one.',
  });
}

/** The mean over tasks of a metric. */
export function estimate(cases: readonly CaseResult[], metric: Metric): Estimate {
  const known = [...taskValues(cases, metric).values()];
  const means = known.map((values) => sum(values) / values.length);
  const count = known.flat().length;
  const [lowest = [], highest = []] = ([0, 1] as const).map((unknown) =>
    [...taskValues(cases, metric, unknown).values()].flat(),
  );
  const all = lowest.length;
  return {
    value: means.length === 0 ? null : sum(means) / means.length,
    interval: means.length === 0 ? null : clusteredWilson(means, count),
    bounds: all === 0 ? null : [sum(lowest) / all, sum(highest) / all],
    known: count,
    missing: all - count,
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
