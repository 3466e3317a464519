import { totalTokens } from '@whetstone/events';
import type { LedgerLine } from '@whetstone/gateway';
import type { CaseRow } from '../record/row.ts';
import { add, sumIfKnown } from './join-turns.ts';

type JudgeSpending = NonNullable<CaseRow['judge']>;

/** What a judge used, apart from the agent. A sum with an unknown part is unknown. `undefined`: it was not asked. */
export function judgeSpending(
  calls: readonly LedgerLine[] | undefined,
  earlier: readonly Pick<CaseRow, 'judge'>[] = [],
): JudgeSpending | undefined {
  const parts = earlier.flatMap(({ judge }) => judge ?? []);
  if (calls) parts.push(spendingOf(calls));
  if (parts.length === 0) return undefined;
  const sum = (name: 'total_tokens' | 'cost_usd') =>
    sumIfKnown(parts, (part) => part[name] ?? undefined, add);
  return {
    calls: parts.reduce((total, part) => total + part.calls, 0),
    models: [...new Set(parts.flatMap(({ models }) => models))],
    total_tokens: sum('total_tokens') ?? null,
    cost_usd: sum('cost_usd') ?? null,
  };
}

function spendingOf(calls: readonly LedgerLine[]): JudgeSpending {
  // A call that was refused, or that its provider failed, used nothing.
  const answered = calls.filter(({ usage, flags }) => usage !== null || flags.includes('unmetered'));
  const none = answered.length === 0 ? 0 : undefined;
  return {
    calls: answered.length,
    models: [...new Set(answered.flatMap((call) => call.model_answered ?? []))],
    total_tokens: none ?? sumIfKnown(answered, ({ usage }) => usage && totalTokens(usage), add) ?? null,
    cost_usd: none ?? sumIfKnown(answered, (call) => call.cost_usd, add) ?? null,
  };
}
