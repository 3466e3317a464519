import type { Telemetry, Turn } from '@whetstone/agents';
import { expect, test } from 'vitest';
import { joinTurns } from './join-turns.ts';

const turn = (given: Partial<Turn>): Turn => ({ events: [], status: 'completed', ...given });
const telemetry = (given: Partial<Telemetry>): Telemetry => ({
  status: 'collected',
  source: 'json-file',
  evidenceGaps: [],
  ...given,
});

test('no turn stays undefined, and one turn stays itself', () => {
  const only = turn({ data: 3 });
  expect(joinTurns([])).toBeUndefined();
  expect(joinTurns([only])).toBe(only);
});

test('joins all events, adds up usage, and takes the end of the last turn', () => {
  const joined = joinTurns([
    turn({
      events: [{ type: 'thinking', text: 'a' }],
      usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3 },
      costUsd: 0.25,
      facts: { runtime: 'x', sessionId: 's' },
      exit: { ended: 'exit', exitCode: 0 },
      data: 'early',
    }),
    turn({
      events: [{ type: 'thinking', text: 'b' }],
      usage: { inputTokens: 10, outputTokens: 20 },
      costUsd: 0.5,
      facts: { runtime: 'x' },
      status: 'failed',
      exit: { ended: 'timeout', message: 'too long' },
    }),
  ]);
  expect(joined).toEqual({
    events: [
      { type: 'thinking', text: 'a' },
      { type: 'thinking', text: 'b' },
    ],
    status: 'failed',
    usage: { inputTokens: 11, outputTokens: 22, cacheReadTokens: 3 },
    costUsd: 0.75,
    facts: { runtime: 'x', sessionId: 's' },
    exit: { ended: 'timeout', message: 'too long' },
  });
});

test('a sum with an unknown part is unknown', () => {
  const joined = joinTurns([turn({ usage: { inputTokens: 1, outputTokens: 2 }, costUsd: 1 }), turn({})]);
  expect(joined).not.toHaveProperty('usage');
  expect(joined).not.toHaveProperty('costUsd');
});

test('telemetry is added up, and has the gaps of all turns', () => {
  const first = telemetry({
    toolCallCount: 2,
    totalTokens: 5,
    toolCallsByName: { shell: 1, constructor: 1 },
  });
  const second = telemetry({
    status: 'partial',
    toolCallCount: 1,
    toolCallsByName: { shell: 1 },
    modelName: 'm',
    error: 'oh',
    evidenceGaps: ['gap'],
  });
  expect(joinTurns([turn({ telemetry: first }), turn({ telemetry: second })])?.telemetry).toEqual({
    status: 'partial',
    source: 'json-file',
    toolCallCount: 3,
    toolCallsByName: { shell: 2, constructor: 1 },
    modelName: 'm',
    error: 'oh',
    evidenceGaps: ['gap'],
  });
});

test.each([
  [['collected', 'collected'], 'collected'],
  [['unavailable', 'unavailable'], 'unavailable'],
  [['collected', 'unavailable'], 'partial'],
  [['collected', 'error', 'partial'], 'error'],
] as const)('the status of %j is %s', (statuses, status) => {
  const turns = statuses.map((each) => turn({ telemetry: telemetry({ status: each }) }));
  expect(joinTurns(turns)?.telemetry?.status).toBe(status);
});
