import type { CaseRow } from '../record/row.ts';
import type { Interval } from '../stats/interval.ts';
import { FEWEST_TASKS, populationDifference } from '../stats/population-difference.ts';
import type { CaseResult } from './case-results.ts';
import { taskValues } from './task-values.ts';

/** What a pass is worth, in US dollars, and what B is then worth more than A per case. */
export type ValueOfPass = {
  pass_worth_usd: number;
  /** Mean over tasks of λ·Δpass − Δcost, US dollars per case. */
  value_usd: number;
  /** 95 %, Student t over tasks; `null` below four tasks. */
  interval: Interval | null;
};

export type PassWorth = {
  /** Tasks with a result and a known cost of every trial in both arms. */
  tasks: number;
  /** For the worth that was asked for, first, and for a fifth, half, twice and five times as much. */
  values: ValueOfPass[];
};

const RANGE = [1, 0.2, 0.5, 2, 5];

/**
 * λ·Δpass − Δcost per task (statistics, R8). A ratio of Δcost and Δpass has no interval where Δpass may be 0. Exploratory.
 * `null`: no task has both.
 */
export function passWorth(
  a: readonly CaseResult[],
  b: readonly CaseResult[],
  worth: number,
): PassWorth | null {
  const [ofA, ofB] = [perTask(a), perTask(b)];
  const tasks = [...ofB].flatMap(([task, variant]) => {
    const baseline = ofA.get(task);
    return baseline ? [{ variant, baseline }] : [];
  });
  if (tasks.length === 0) return null;
  const values = RANGE.map((factor): ValueOfPass => {
    const lambda = factor * worth;
    // In passes, so that the noise of trials widens the spread as it does for pass rates.
    const inPasses = tasks.map(({ variant, baseline }) => ({
      difference: variant.rate - baseline.rate - (variant.cost - baseline.cost) / lambda,
      trials: { variant: variant.trials, baseline: baseline.trials },
    }));
    const { difference, interval } = populationDifference(inPasses, { scale: 'value' });
    const isEnough = interval !== null && tasks.length >= FEWEST_TASKS;
    return {
      pass_worth_usd: lambda,
      value_usd: lambda * difference,
      interval: isEnough ? { ...interval, low: lambda * interval.low, high: lambda * interval.high } : null,
    };
  });
  return { tasks: tasks.length, values };
}

function perTask(cases: readonly CaseResult[]) {
  const rates = taskValues(cases, 'pass_rate');
  const costs = new Map(
    [...Map.groupBy(cases, (one) => one.task_id)].map(([task, ofTask]) => [task, meanCost(ofTask)]),
  );
  return new Map(
    [...rates].flatMap(([task, values]) => {
      const cost = costs.get(task) ?? null;
      if (cost === null) return [];
      return [[task, { rate: mean(values), trials: values.length, cost }] as const];
    }),
  );
}

/** `null` where a trial has no known cost. Errors cost as well. */
function meanCost(cases: readonly CaseResult[]): number | null {
  const amounts = cases.flatMap(({ row }) => (row ? [amountOf(row)] : []));
  const known = amounts.filter((one) => one !== null);
  return known.length === 0 || known.length < amounts.length ? null : mean(known);
}

const amountOf = (row: CaseRow): number | null => row.cost_usd;

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
