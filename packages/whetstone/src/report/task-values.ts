import { WhetstoneError } from '@whetstone/errors';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { clusteredWilson } from '../stats/wilson-interval.ts';
import { type CaseResult, isSkipped } from './case-results.ts';
import type { Estimate, Metric, Summary } from './summary.ts';

/** What the comparisons of a run are about, declared before its first case. Runs of older versions have the pass rate. */
export const metricOf = ({ metric = 'pass_rate' }: Manifest): Metric => metric;

const TITLES = {
  pass_rate: 'pass rate',
  score: 'score',
  cost: 'cost per case',
  tokens: 'tokens per case',
  seconds: 'time per case',
};

/** Whether a metric is an amount, of which less is better, and not a share. */
export const isAmount = (metric: Metric): boolean =>
  metric === 'cost' || metric === 'tokens' || metric === 'seconds';

/** The metric as a report has it: `pass rate`, `score`, `pass@3`, `cost per case`. */
export const describeMetric = (kind: Metric, trials: number): Summary['metric'] => ({
  kind,
  title: kind === 'pass_at_k' ? `pass@${trials}` : TITLES[kind],
  unit: isAmount(kind) ? '%' : 'pp',
});

/**
 * The values of each task by task id, shares from 0 to 1 or amounts: one per trial, and for `pass_at_k` one for all trials
 * together. What is not known is left out, unless `unknown` says what it counts as. Skipped trials never count, and a task
 * without a value is left out.
 */
export function taskValues(
  cases: readonly CaseResult[],
  metric: Metric,
  unknown?: number,
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

const hasResult = ({ row }: CaseResult): boolean => row?.outcome === 'passed' || row?.outcome === 'failed';

const passed = (one: CaseResult): number | undefined =>
  hasResult(one) ? Number(one.row?.outcome === 'passed') : undefined;

/** What a case took. Of a case that ended early for another reason than the agent, it says nothing. */
const amountOf =
  (amount: (row: CaseRow) => number | null) =>
  (one: CaseResult): number | undefined =>
    one.row && hasResult(one) ? (amount(one.row) ?? undefined) : undefined;

const VALUES = {
  pass_rate: passed,
  score: ({ share }: CaseResult) => share,
  cost: amountOf((row) => row.cost_usd),
  tokens: amountOf((row) => row.total_tokens),
  seconds: amountOf((row) => row.agent_duration_seconds),
};

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
 * For what is about pass rates only.
 * @throws WhetstoneError `run-metric` for a run that declares another metric
 */
export function requirePassRates(manifest: Manifest): void {
  const { kind, title } = describeMetric(metricOf(manifest), manifest.trials);
  if (kind === 'pass_rate') return;
  throw new WhetstoneError(
    'run-metric',
    `This needs a run that compares pass rates, and run ${manifest.run_id} compares ${title}.`,
    { hint: 'Name another run.' },
  );
}

/**
 * The metric that two runs are compared by.
 * @throws WhetstoneError `run-metric` where they declare different ones
 */
export function commonMetric(a: Manifest, b: Manifest): Summary['metric'] {
  const [ofA, ofB] = [describeMetric(metricOf(a), a.trials), describeMetric(metricOf(b), b.trials)];
  // Only pass@k depends on the number of trials.
  if (ofA.title === ofB.title) return ofA;
  throw new WhetstoneError(
    'run-metric',
    `The runs declare different metrics: ${ofA.title} and ${ofB.title}.`,
    {
      hint: 'A metric that is chosen after the results proves nothing: run both with the same one.',
    },
  );
}

/** The mean over tasks of a metric. */
export function estimate(cases: readonly CaseResult[], metric: Metric): Estimate {
  const known = [...taskValues(cases, metric).values()];
  const means = known.map((values) => sum(values) / values.length);
  const count = known.flat().length;
  const value = means.length === 0 ? null : sum(means) / means.length;
  if (isAmount(metric)) {
    const planned = cases.filter((one) => !isSkipped(one)).length;
    return { value, interval: null, bounds: null, known: count, missing: planned - count };
  }
  const [lowest = [], highest = []] = ([0, 1] as const).map((unknown) =>
    [...taskValues(cases, metric, unknown).values()].flat(),
  );
  const all = lowest.length;
  return {
    value,
    interval: means.length === 0 ? null : clusteredWilson(means, count),
    bounds: all === 0 ? null : [sum(lowest) / all, sum(highest) / all],
    known: count,
    missing: all - count,
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
