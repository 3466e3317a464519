import type { LedgerLine } from '@whetstone/gateway';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { totalCalls } from './call-totals.ts';

const base: Parameters<typeof totalCalls>[0][number] = {
  model_asked: 'asked',
  model_answered: null,
  outcome: 'ok',
  usage: null,
  cost_usd: null,
  flags: [],
};

test('calls are summed by the model that answered; what is unknown stays unknown', () => {
  const totals = totalCalls([
    { ...base, model_answered: 'a', usage: { inputTokens: 10, outputTokens: 1 }, cost_usd: 0.5 },
    { ...base, model_answered: 'a', usage: { inputTokens: 20, outputTokens: 2, cacheReadTokens: 5 } },
    { ...base, outcome: 'error', flags: ['unmetered'] },
    { ...base, flags: ['auxiliary'], model_asked: null },
    { ...base, flags: ['auxiliary', 'unmetered'], model_asked: null },
  ]);
  expect(totals).toEqual({
    type: 'totals',
    calls: 3,
    usage: { inputTokens: 30, outputTokens: 3, cacheReadTokens: 5 },
    cost_usd: 0.5,
    calls_without_cost: 3,
    auxiliary_calls: 2,
    unmetered_calls: 2,
    failed_calls: 1,
    models: [
      {
        model: 'a',
        calls: 2,
        usage: { inputTokens: 30, outputTokens: 3, cacheReadTokens: 5 },
        cost_usd: 0.5,
        calls_without_cost: 1,
      },
      {
        model: 'asked',
        calls: 1,
        usage: { inputTokens: 0, outputTokens: 0 },
        cost_usd: null,
        calls_without_cost: 1,
      },
    ],
  });
});

test('the models’ totals add up to all', () => {
  const line = fc.record({
    model_answered: fc.constantFrom('a', 'b', null),
    usage: fc.option(fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat() })),
    flags: fc.constantFrom<LedgerLine['flags']>([], ['auxiliary']),
  });
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const totals = totalCalls(lines.map((each) => ({ ...base, ...each })));
      const add = (pick: (of: { calls: number; usage: { inputTokens: number } }) => number): number =>
        totals.models.reduce((sum, model) => sum + pick(model), 0);
      expect(add(({ calls }) => calls)).toBe(totals.calls);
      expect(add(({ usage }) => usage.inputTokens)).toBe(totals.usage.inputTokens);
      expect(totals.calls + totals.auxiliary_calls).toBe(lines.length);
    }),
  );
});
