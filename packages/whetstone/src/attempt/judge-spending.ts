import { totalTokens } from '@whetstone/events';
import type { CaseRow } from '../record/row.ts';
import { add, sumIfKnown } from './join-turns.ts';
import type { JudgeCalls } from './lab.ts';

type JudgeSpending = NonNullable<CaseRow['judge']>;

/** What a judge used, apart from the agent. A sum with an unknown part is unknown. `undefined`: it was not asked. */
export function judgeSpending(
  calls: readonly JudgeCalls[],
  earlier?: Pick<CaseRow, 'judge'>,
): JudgeSpending | undefined {
  const parts = [...(earlier?.judge ? [earlier.judge] : []), ...calls.map(spendingOf)];
  if (parts.length === 0) return undefined;
  const sum = (name: 'calls' | 'total_tokens' | 'cost_usd') =>
    sumIfKnown(parts, (part) => part[name] ?? undefined, add);
  return {
    calls: sum('calls') ?? null,
    models: [...new Set(parts.flatMap(({ models }) => models))],
    total_tokens: sum('total_tokens') ?? null,
    cost_usd: sum('cost_usd') ?? null,
  };
}

function spendingOf({ ledger, isMetered }: JudgeCalls): JudgeSpending {
  if (!isMetered) return { calls: null, models: [], total_tokens: null, cost_usd: null };
  // A call that was refused, or that its provider failed, used nothing.
  const answered = ledger.filter(({ usage, flags }) => usage !== null || flags.includes('unmetered'));
  const none = answered.length === 0 ? 0 : undefined;
  return {
    calls: answered.length,
    models: [...new Set(answered.flatMap((call) => call.model_answered ?? []))],
    total_tokens: none ?? sumIfKnown(answered, ({ usage }) => usage && totalTokens(usage), add) ?? null,
    cost_usd: none ?? sumIfKnown(answered, (call) => call.cost_usd, add) ?? null,
  };
}
