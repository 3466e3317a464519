import { type DrivenAgentKind, drivenAgents } from '@whetstone/agents/config';
import type { LedgerLine } from '@whetstone/gateway';
import { expect } from 'vitest';
import { replies } from './task.ts';

/** Without those of an agent's own, such as the one that names the session. */
export const modelCalls = (ledger: readonly LedgerLine[]): LedgerLine[] =>
  ledger.filter(({ flags }) => !flags.includes('auxiliary') && !flags.includes('side-request'));

/** The calls of the task, one per step of its script. `own`: the model that the agent chooses. */
export function expectCallsOfTask(kind: DrivenAgentKind, model: string, ledger: readonly LedgerLine[]): void {
  const calls = modelCalls(ledger);
  expect(calls.map(({ status, step }) => [status, step])).toEqual(
    Array.from({ length: replies }, (_, step) => [200, step]),
  );
  for (const call of calls) {
    if (model !== 'own') expect(call.wire).toBe(drivenAgents[kind].release.wire);
    expect(call.model_asked).toBe(model === 'own' ? calls[0]?.model_asked : model);
    expect(call.model_answered).toMatch(/./);
    expect(call.usage?.inputTokens).toBeGreaterThan(1000);
    expect(call.usage?.outputTokens).toBeGreaterThan(0);
  }
}
