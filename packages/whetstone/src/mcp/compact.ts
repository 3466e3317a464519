import { isJsonObject, type JsonObject } from '@whetstone/events';
import type { RunComparison } from '../report/run-comparison.ts';
import type { Summary } from '../report/summary.ts';

/** Lists in answers are cut there, and say how many are missing. */
const MOST = 20;

const cut = <Item>(items: readonly Item[]): { shown: Item[]; more: number } => ({
  shown: items.slice(0, MOST),
  more: Math.max(0, items.length - MOST),
});

/** What a model needs of a summary: without cells, with the first cases that failed. */
export function compactSummary(summary: Summary) {
  return {
    run_id: summary.run_id,
    headline: summary.headline,
    metric: summary.metric.title,
    cases: summary.cases,
    comparisons: summary.comparisons.map(compactComparison),
    arms: summary.arms.map(({ agent, variant, passed, trials, primary, cost_usd, total_tokens }) => ({
      ...{ agent, variant, passed, trials, cost_usd, total_tokens },
      ...{ value: primary.value, interval: primary.interval },
    })),
    ...(summary.categories.length > 0 && { categories: cut(summary.categories) }),
    not_passed: summary.failures.map(({ title, count, cases }) => ({
      why: title,
      count,
      cases: cases.slice(0, 5).map(({ case_id, task, variant, evidence }) => ({
        ...{ case_id, task, variant },
        evidence: evidence.slice(0, 300),
      })),
    })),
    not_shown: summary.caveats,
  };
}

/** What a model needs of a comparison of runs or arms. */
export const compactRuns = (comparison: RunComparison) => ({
  ...{ a: comparison.a.label, b: comparison.b.label, metric: comparison.metric.title },
  pairs: comparison.pairs.map(({ a, b, comparison: one, flips }) => ({
    a: { agent: a.agent, variant: a.variant, passed: a.passed, trials: a.trials, cost_usd: a.cost_usd },
    b: { agent: b.agent, variant: b.variant, passed: b.passed, trials: b.trials, cost_usd: b.cost_usd },
    ...compactComparison(one),
    tasks_that_differ: cut(flips),
  })),
  ...{ left_out: comparison.left_out, differences: comparison.differences, not_shown: comparison.caveats },
});

function compactComparison(one: Summary['comparisons'][number]) {
  const { agent, variant, baseline, verdict, sentence, difference, interval, tasks } = one;
  return {
    ...{ agent, variant, baseline, verdict, sentence, difference, interval, tasks },
    smallest_detectable_difference: one.minimum_detectable_difference,
    tasks_needed_for_10_points: one.tasks_needed,
  };
}

/** The answer of a command that printed JSON: a summary in it is made compact. */
export function compactAnswer(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  if (isSummary(value)) return compactSummary(value);
  const { summary, ...others } = value;
  return isJsonObject(summary) && isSummary(summary)
    ? { ...others, summary: compactSummary(summary) }
    : value;
}

const isSummary = (value: JsonObject): value is JsonObject & Summary =>
  'run_id' in value && 'headline' in value && 'arms' in value;
