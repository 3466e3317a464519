import type { CaseRow } from '../record/row.ts';
import { clusteredMean } from '../stats/clustered-mean.ts';
import { median } from '../stats/median.ts';
import { passAtK, passHatK } from '../stats/pass-at-k.ts';
import { clusteredWilson } from '../stats/wilson-interval.ts';
import { type CaseResult, countOutcomes, isSkipped } from './case-results.ts';
import type { Arm, Metric, PassAtK } from './summary.ts';
import { estimate, taskValues } from './task-values.ts';

/** The numbers of one agent × variant over its planned cases. */
export function summarizeArm(
  agent: string,
  variant: string,
  { cases, metric }: { cases: readonly CaseResult[]; metric: Metric },
): Arm {
  const rows = cases.flatMap((one) => one.row ?? []);
  const counts = countOutcomes(cases);
  const { passed, failed } = counts;
  const rate = estimate(cases, 'pass_rate');
  const primary = metric === 'pass_rate' ? rate : estimate(cases, metric);
  // Trials that stop at the first pass would show too high a rate where they are few.
  const isCut = metric === 'pass_at_k';
  const isGraded = rows.some((row) => row.max_score !== undefined);
  return {
    agent,
    variant,
    tasks: new Set(cases.map((one) => one.task_id)).size,
    trials: passed + failed,
    ...counts,
    retries: sum(rows.map((row) => row.retries)),
    primary,
    score: isGraded ? (metric === 'score' ? primary : estimate(cases, 'score')) : null,
    pass_rate: isCut ? null : rate.value,
    pass_rate_interval: isCut ? null : rate.interval,
    bounds: rate.bounds,
    pass_at_k: passOverTrials(
      cases.filter((one) => !isSkipped(one)),
      isCut,
    ),
    median_agent_seconds: median(known(rows, (row) => row.agent_duration_seconds)),
    median_seconds: median(known(rows, (row) => row.duration_seconds)),
    mean_changed_files: mean(
      known(
        rows.filter(({ outcome }) => outcome !== 'error' && outcome !== 'skipped'),
        (row) => row.changed_files,
      ),
    ),
    ...spending(rows, passed),
  };
}

function passOverTrials(cases: readonly CaseResult[], isCut: boolean): PassAtK | null {
  const planned = Map.groupBy(cases, (one) => one.task_id);
  const trials = Math.min(...[...planned.values()].map(({ length }) => length));
  if (isCut) {
    const { value, interval, missing } = estimate(cases, 'pass_at_k');
    if (value === null || missing > 0) return null;
    return { k: trials, any: value, any_interval: interval, all: null, all_interval: null };
  }
  const values = [...taskValues(cases, 'pass_rate').values()];
  const isComplete = values.length === planned.size && values.every(({ length }) => length >= trials);
  if (values.length === 0 || trials < 3 || !isComplete) return null;
  const k = trials - 1;
  const over = (chance: (trials: number, passes: number, k: number) => number) => {
    const ofTasks = values.map((all) => chance(all.length, all.filter((value) => value === 1).length, k));
    return { mean: clusteredMean(ofTasks).mean, interval: clusteredWilson(ofTasks, ofTasks.length) };
  };
  const [any, all] = [over(passAtK), over(passHatK)];
  return { k, any: any.mean, any_interval: any.interval, all: all.mean, all_interval: all.interval };
}

function spending(rows: readonly CaseRow[], passed: number) {
  const costs = known(rows, (row) => row.cost_usd);
  const tokens = known(rows, (row) => row.total_tokens);
  const [source = 'none', ...otherSources] = new Set(rows.map((row) => row.usage_source));
  const cost = costs.length === 0 ? null : sum(costs);
  const costUnknown = rows.length - costs.length;
  return {
    usage_source: otherSources.length === 0 ? source : ('mixed' as const),
    total_tokens: tokens.length === 0 ? null : sum(tokens),
    tokens_unknown: rows.length - tokens.length,
    cost_usd: cost,
    cost_unknown: costUnknown,
    cost_per_pass_usd: cost === null || costUnknown > 0 || passed === 0 ? null : cost / passed,
  };
}

function known(rows: readonly CaseRow[], field: (row: CaseRow) => number | null): number[] {
  return rows.flatMap((row) => field(row) ?? []);
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : clusteredMean(values).mean;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
