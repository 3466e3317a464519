import type { CaseRow } from '../record/row.ts';
import { clusteredMean } from '../stats/clustered-mean.ts';
import { median } from '../stats/median.ts';
import { passAtK, passHatK } from '../stats/pass-at-k.ts';
import { clusteredWilson } from '../stats/wilson-interval.ts';
import { type CaseResult, countOutcomes, isSkipped, taskCounts } from './case-results.ts';
import type { Arm } from './summary.ts';

/** The numbers of one agent × variant over its planned cases. */
export function summarizeArm(agent: string, variant: string, cases: readonly CaseResult[]): Arm {
  const rows = cases.flatMap((one) => one.row ?? []);
  const { passed, failed, error, skipped, missing } = countOutcomes(cases);
  const counted = cases.length - skipped;
  const rates = [...taskCounts(cases).values()].map((count) => count.passed / count.trials);
  return {
    agent,
    variant,
    tasks: new Set(cases.map((one) => one.task_id)).size,
    trials: passed + failed,
    passed,
    failed,
    error,
    skipped,
    missing,
    retries: sum(rows.map((row) => row.retries)),
    pass_rate: mean(rates),
    pass_rate_interval: rates.length === 0 ? null : clusteredWilson(rates, passed + failed),
    bounds: counted === 0 ? null : [passed / counted, (passed + error + missing) / counted],
    pass_at_k: passOverTrials(cases.filter((one) => !isSkipped(one))),
    median_agent_seconds: median(known(rows, (row) => row.agent_duration_seconds)),
    median_seconds: median(rows.map((row) => row.duration_seconds)),
    mean_changed_files: mean(
      rows
        .filter(({ outcome }) => outcome !== 'error' && outcome !== 'skipped')
        .map((row) => row.changed_files),
    ),
    ...spending(rows, passed),
  };
}

function passOverTrials(cases: readonly CaseResult[]): Arm['pass_at_k'] {
  const planned = Map.groupBy(cases, (one) => one.task_id);
  const k = Math.min(...[...planned.values()].map((trials) => trials.length));
  const counts = [...taskCounts(cases).values()];
  if (counts.length === 0 || k < 2) return null;
  if (counts.length < planned.size || counts.some((count) => count.trials < k)) return null;
  return {
    k,
    any: clusteredMean(counts.map(({ passed, trials }) => passAtK(trials, passed, k))).mean,
    all: clusteredMean(counts.map(({ passed, trials }) => passHatK(trials, passed, k))).mean,
  };
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
