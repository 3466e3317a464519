import { expect, test } from 'vitest';
import { addSpending } from './add-spending.ts';

type Spent = Parameters<typeof addSpending>[0][number];
const nothing: Spent = {
  usage_source: 'none',
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  reasoning_tokens: null,
  total_tokens: null,
  cost_usd: null,
  model_calls: null,
  tool_calls: null,
  tool_calls_by_name: null,
  command_call_count: null,
  reasoning_step_count: null,
  reported_duration_seconds: null,
  models: [],
  agent_duration_seconds: null,
};
const metered = (tokens: number, cost: number | null): Spent => ({
  ...nothing,
  usage_source: 'gateway',
  input_tokens: tokens,
  total_tokens: tokens,
  cost_usd: cost,
  model_calls: 1,
  tool_calls: 2,
  models: [`model-${tokens}`],
  agent_duration_seconds: 1,
});

test('an attempt that was retried counts', () => {
  expect(addSpending([metered(100, 0.5), metered(20, 0.25)], { isMetered: true })).toMatchObject({
    usage_source: 'gateway',
    total_tokens: 120,
    cost_usd: 0.75,
    model_calls: 2,
    tool_calls: 4,
    models: ['model-100', 'model-20'],
  });
});

test('the sum of attempts is unknown where one attempt is', () => {
  expect(addSpending([metered(100, null), metered(20, 0.25)], { isMetered: true })).toMatchObject({
    total_tokens: 120,
    cost_usd: null,
  });
  const unmetered = { ...nothing, agent_duration_seconds: 3 };
  expect(addSpending([unmetered, metered(20, 0.25)], { isMetered: false }).total_tokens).toBeNull();
});

test('the row of several attempts is unknown although the agent of the last one never started', () => {
  const several = { ...nothing, retries: 1 };
  expect(addSpending([several, metered(20, 0.25)], { isMetered: false }).total_tokens).toBeNull();
});

test('an attempt that called no model spent nothing', () => {
  const sandboxFailed = nothing;
  expect(addSpending([sandboxFailed, metered(20, 0.25)], { isMetered: false }).total_tokens).toBe(20);
  const sawNoCall = { ...nothing, agent_duration_seconds: 3 };
  expect(addSpending([metered(20, 0.25), sawNoCall], { isMetered: true })).toMatchObject({
    usage_source: 'gateway',
    total_tokens: 20,
  });
  expect(addSpending([nothing], { isMetered: true })).toMatchObject({
    usage_source: 'none',
    total_tokens: null,
  });
});
