import type { Telemetry, Turn } from '@whetstone/agents';
import type { AgentConfig } from '@whetstone/agents/config';
import type { LedgerLine } from '@whetstone/gateway';
import { expect, test } from 'vitest';
import { consumption } from './consumption.ts';

const command = { runner: 'command', kind: 'custom' } as AgentConfig;
const adapter = { runner: 'module', kind: 'custom' } as AgentConfig;
const driver = {
  runner: 'driver',
  kind: 'codex-cli',
  driver: { model: 'gpt-x', inherit: [] },
} as unknown as AgentConfig;

const telemetry: Telemetry = { status: 'unavailable', source: 'none', evidenceGaps: [] };
const turn = (given: Partial<Turn>): Turn => ({ events: [], status: 'completed', ...given });
const call = (name: string, callId = name): Turn['events'][number] => ({
  type: 'action.called',
  callId,
  name,
  input: {},
});
const usage = { inputTokens: 7, outputTokens: 5 };

const of = (
  turns: readonly Turn[],
  agentConfig: AgentConfig,
  more: { calls?: readonly Partial<LedgerLine>[]; toolObservability?: boolean } = {},
) =>
  consumption({
    turns,
    calls: (more.calls ?? []) as LedgerLine[],
    agent: { capabilities: { toolObservability: more.toolObservability ?? false } },
    agentConfig,
  });

test('where only text was seen, tool calls and model calls are unknown', () => {
  const text = turn({ telemetry: { ...telemetry, evidenceGaps: ['tool_calls_missing'] } });
  const unknown = { tool_calls: null, tool_calls_by_name: null, command_call_count: null, model_calls: null };
  expect(of([text], command)).toMatchObject(unknown);
  expect(of([turn({})], adapter)).toMatchObject(unknown);
  expect(of([], command)).toMatchObject(unknown);
});

test('an agent whose calls would be seen made none', () => {
  const none = { tool_calls: 0, tool_calls_by_name: {}, command_call_count: 0 };
  expect(of([turn({ telemetry })], command)).toMatchObject(none);
  expect(of([turn({})], adapter, { toolObservability: true })).toMatchObject(none);
  expect(of([turn({ events: [call('shell'), call('read'), call('shell', '3')] })], adapter)).toMatchObject({
    tool_calls: 3,
    tool_calls_by_name: { shell: 2, read: 1 },
    command_call_count: 2,
  });
});

test('a usage of several calls counts as many as it says, and an unknown number makes the sum unknown', () => {
  const one = turn({ events: [{ type: 'usage', usage }], usage });
  const three = turn({ events: [{ type: 'usage', usage, calls: 3 }], usage });
  const some = turn({ events: [{ type: 'usage', usage, calls: null }], usage });
  expect(of([one, three], command).model_calls).toBe(4);
  expect(of([one, some], command).model_calls).toBeNull();
  expect(of([one, turn({ ...some, facts: { modelCalls: 2 } })], command).model_calls).toBe(3);
});

test('the models are those that answered, or else the one that was asked', () => {
  expect(of([turn({ telemetry })], driver).models).toEqual(['gpt-x']);
  const answered = turn({ events: [{ type: 'usage', usage, model: 'gpt-y' }] });
  expect(of([answered], driver).models).toEqual(['gpt-y']);
});

test('what a telemetry file says', () => {
  const said: Telemetry = {
    ...telemetry,
    source: 'json-file',
    agentDurationSeconds: 1.5,
    reasoningStepCount: 4,
    toolCallCount: 3,
    toolCallsByName: { shell: 2, edit: 1 },
    commandCallCount: 2,
    modelName: 'm',
  };
  const cached = { inputTokens: 4, outputTokens: 5, cacheReadTokens: 6 };
  expect(of([turn({ telemetry: said, usage: cached })], command)).toMatchObject({
    reported_duration_seconds: 1.5,
    reasoning_step_count: 4,
    tool_calls: 3,
    tool_calls_by_name: { shell: 2, edit: 1 },
    command_call_count: 2,
    models: ['m'],
    input_tokens: 4,
    cache_read_tokens: 6,
  });
});

test('a reply whose usage is unknown is a model call, and makes the tokens unknown', () => {
  const line = { usage, flags: [], cost_usd: 1, tools_called: ['shell'], model_answered: 'm' };
  const unmetered = { ...line, usage: null, cost_usd: null, flags: ['unmetered' as const] };
  const refused = { ...line, usage: null, tools_called: [] };
  const embedding = { ...unmetered, flags: ['auxiliary' as const, 'unmetered' as const], tools_called: [] };
  expect(of([], command, { calls: [line, line, refused] })).toMatchObject({
    usage_source: 'gateway',
    model_calls: 2,
    total_tokens: 24,
    cost_usd: 2,
    tool_calls: 2,
  });
  expect(of([], command, { calls: [line, embedding] })).toMatchObject({ model_calls: 1, total_tokens: 12 });
  expect(of([], command, { calls: [line, unmetered] })).toMatchObject({
    model_calls: 2,
    total_tokens: null,
    cost_usd: null,
  });
});
