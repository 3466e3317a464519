import type { CaseRow } from '../record/row.ts';
import { add, addByName, sumIfKnown } from './join-turns.ts';

const SUMS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'total_tokens',
  'cost_usd',
  'model_calls',
  'tool_calls',
  'command_call_count',
  'reasoning_step_count',
  'reported_duration_seconds',
] as const;

/** What an attempt used of a model. */
export type Spending = Pick<
  CaseRow,
  (typeof SUMS)[number] | 'usage_source' | 'models' | 'tool_calls_by_name'
>;

/**
 * What the attempts of a case spent together. A sum with an unknown part is unknown. An attempt that used no model
 * spent nothing: the gateway metered it and saw no call, or its agent never started. A row with `retries` is that of several
 * attempts, and says only of the last whether its agent started.
 */
export function addSpending(
  attempts: readonly (Spending &
    Pick<CaseRow, 'agent_duration_seconds'> &
    Partial<Pick<CaseRow, 'retries'>>)[],
  { isMetered }: { isMetered: boolean },
): Spending {
  const last = attempts.at(-1);
  if (!last) throw new TypeError('A case has no attempt.');
  const spent = attempts.filter(
    (one) =>
      one.usage_source !== 'none' ||
      (!isMetered && (one.agent_duration_seconds !== null || (one.retries ?? 0) > 0)),
  );
  const counted = spent.length === 0 ? [last] : spent;
  const sums = SUMS.map((field) => [
    field,
    sumIfKnown(counted, (one) => one[field] ?? undefined, add) ?? null,
  ]);
  return {
    ...(Object.fromEntries(sums) as Record<(typeof SUMS)[number], number | null>),
    usage_source: counted.at(-1)?.usage_source ?? 'none',
    tool_calls_by_name: sumIfKnown(counted, (one) => one.tool_calls_by_name, addByName) ?? null,
    models: [...new Set(counted.flatMap(({ models }) => models))],
  };
}
