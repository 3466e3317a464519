import { addUsage, emptyUsage, type Usage } from '@whetstone/events';
import type { LedgerLine } from '@whetstone/gateway';

export type ModelTotals = {
  /** The model that answered, or the one that was asked for. */
  model: string;
  calls: number;
  usage: Usage;
  /** US dollars, for the calls with a known price; `null` when no price is known. */
  cost_usd: number | null;
  /** Calls that were answered or cut off, and whose price is unknown. */
  calls_without_cost: number;
};

/** The totals of the calls of a gateway. */
export type CallTotals = Omit<ModelTotals, 'model'> & {
  type: 'totals';
  /** Requests that are not model calls: lists of models, token counts, probes. */
  auxiliary_calls: number;
  /** Calls whose usage is unknown: replies that were cut off, and paid calls that are not model calls. */
  unmetered_calls: number;
  /** Model calls that did not finish, or ended in an error. */
  failed_calls: number;
  /** In the order in which the models were first called. */
  models: ModelTotals[];
};

type TotalledLine = Pick<
  LedgerLine,
  'flags' | 'outcome' | 'model_asked' | 'model_answered' | 'usage' | 'cost_usd'
>;

export function totalCalls(lines: readonly TotalledLine[]): CallTotals {
  const modelCalls = lines.filter((line) => !line.flags.includes('auxiliary'));
  const byModel = Map.groupBy(modelCalls, (line) => line.model_answered ?? line.model_asked ?? 'unknown');
  return {
    type: 'totals',
    ...sum(modelCalls),
    calls_without_cost: sum(lines).calls_without_cost,
    auxiliary_calls: lines.length - modelCalls.length,
    unmetered_calls: lines.filter((line) => line.flags.includes('unmetered')).length,
    failed_calls: modelCalls.filter((line) => line.outcome !== 'ok').length,
    models: [...byModel].map(([model, calls]) => ({ model, ...sum(calls) })),
  };
}

function sum(calls: readonly TotalledLine[]): Omit<ModelTotals, 'model'> {
  const answered = calls.filter((line) => line.usage !== null || line.flags.includes('unmetered'));
  const costs = answered.flatMap((line) => line.cost_usd ?? []);
  return {
    calls: calls.length,
    usage: answered.reduce((total, line) => (line.usage ? addUsage(total, line.usage) : total), emptyUsage()),
    cost_usd: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
    calls_without_cost: answered.length - costs.length,
  };
}
