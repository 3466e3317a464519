import { expect, test } from 'vitest';
import { calls, finish, type ModelStep, says, textParts, toolCall } from '../__fixtures__/scripted-model.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';
import { catalogMaxOutput, catalogPriceOf } from '../profiles/model-catalog.ts';
import { Session } from '../session/session.ts';
import { type Budget, SpendMeter } from './budget.ts';

const look: ModelStep = () => calls(toolCall('glob', { pattern: `${Math.random()}` }));

// Each call of the scripted model has 15 tokens and, here, costs a dollar.
test.concurrent.each([
  [{ turns: 2 }, 'turns', { limit: 'turns', value: 2 }],
  [{ toolRounds: 2 }, 'tool_rounds', { limit: 'rounds', value: 2 }],
  [{ tokens: 30 }, 'tokens', { limit: 'tokens', value: 30 }],
  [{ costUsd: 2 }, 'cost', { limit: 'cost', value: 2 }],
] satisfies [Budget, string, object][])(
  'a budget of %o ends the input, and the next one',
  async (budget, reason, event) => {
    await using run = await startSession([look, look, look], { budget, priceOf: () => 1 });
    expect(await run.session.submit('go')).toMatchObject({ reason, modelCalls: 2 });
    expect(run.of('TURN_LIMIT')[0]?.data).toEqual(event);
    expect(await run.session.submit('more')).toMatchObject({ reason, modelCalls: 0 });
    expect(run.session.state).toBe('IDLE');
  },
);

test.concurrent('an approval and a hook that outlast the wall time are not ended by the user', async () => {
  const never = () => new Promise<never>(() => {});
  for (const guard of [{ approve: never }, { hooks: { beforeTool: never } }]) {
    await using run = await startSession([calls(toolCall('glob', { pattern: '*' }))], {
      ...guard,
      budget: { wallTimeMs: 30 },
    });
    expect(await run.session.submit('go')).toMatchObject({ reason: 'wall_time' });
    expect(run.of('TOOL_CALL_END')[0]?.data.output).toMatch(/^Not run: .*the time limit interrupted/);
  }
});

test.concurrent('the wall time stops what runs', async () => {
  const hang = customTool('hang', (_args, { signal }) => {
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
  });
  await using run = await startSession([calls(toolCall('hang', {}))], {
    tools: [hang],
    budget: { wallTimeMs: 30 },
  });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'wall_time' });
  expect(run.of('TURN_LIMIT')[0]?.data).toEqual({ limit: 'wall_time', value: 30 });
  expect(run.of('TOOL_CALL_END')[0]?.data.output).toMatch(/^Aborted by the time limit after/);
});

test.concurrent.each<[string, ModelStep]>([
  ['an empty answer', [finish('stop')]],
  ['a malformed call', [finish('error', 'MALFORMED_FUNCTION_CALL')]],
])('%s is paid for, although the model is asked again', async (_, useless) => {
  await using run = await startSession([useless, says('done'), look, says('never')], {
    budget: { tokens: 45 },
    priceOf: () => 1,
  });
  const usage = { inputTokens: 16, outputTokens: 10, cacheReadTokens: 4 };
  const paid = { usage, costUsd: 2 };
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed', modelCalls: 1, ...paid });
  expect(run.of('LLM_CALL_END').map(({ data }) => data)).toMatchObject([{ retries: 1, ...paid }]);
  expect(await run.session.submit('more')).toMatchObject({ reason: 'tokens', modelCalls: 1 });
});

test.concurrent('a call that fails in the end says what its attempts have used', async () => {
  const useless: ModelStep = [finish('error', 'MALFORMED_FUNCTION_CALL')];
  await using run = await startSession([useless, new Error('fetch failed'), useless], { priceOf: () => 1 });
  const paid = { usage: { inputTokens: 16, outputTokens: 10, cacheReadTokens: 4 }, costUsd: 2 };
  expect(await run.session.submit('go')).toMatchObject({ reason: 'error', ...paid });
  expect(run.of('LLM_CALL_END').map(({ data }) => data)).toMatchObject([
    { ...paid, error: { code: 'model-stream-broken' } },
  ]);
});

test.concurrent('a limit of tokens ends with an error after one call whose tokens nobody reports', async () => {
  const uncounted: ModelStep = [
    toolCall('glob', { pattern: '*' }),
    {
      type: 'finish',
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage: {
        inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined },
      },
    },
  ];
  await using run = await startSession([uncounted, says('never')], { budget: { tokens: 1000 } });
  const result = await run.session.submit('go');
  expect(result).toMatchObject({ reason: 'error', modelCalls: 1 });
  expect(result.error?.message).toMatch(/limits the tokens.*fake-1/);
  await using unlimited = await startSession([uncounted, says('done')]);
  expect(await unlimited.session.submit('go')).toMatchObject({ reason: 'completed', text: 'done' });
});

test.concurrent('a cost limit without a known price ends with an error after one call', async () => {
  await using run = await startSession([look, look], { budget: { costUsd: 5 } });
  const result = await run.session.submit('go');
  expect(result).toMatchObject({
    reason: 'error',
    modelCalls: 1,
    error: { code: 'model-configuration-invalid' },
  });
  expect(result.costUsd).toBeUndefined();
  expect(result.error?.message).toMatch(/fake-1.*pass `priceOf`/);
});

test.concurrent('what was spent survives a snapshot', async () => {
  await using run = await startSession([says('a')], { budget: { turns: 1 } });
  await run.session.submit('go');
  const snapshot = JSON.parse(JSON.stringify(await run.session.snapshot()));
  const { profile, environment } = { profile: run.profile, environment: run.place.environment };
  await using restored = Session.restore(snapshot, {
    profile,
    environment,
    model: run.model,
    budget: { turns: 1 },
  });
  expect(await restored.submit('more')).toMatchObject({ reason: 'turns', modelCalls: 0 });
});

test.concurrent('invalid numbers are refused, with their names', () => {
  expect(() => new SpendMeter({ tokens: -1 })).toThrow(/Budget\.tokens is -1/);
  expect(() => new SpendMeter({ costUsd: Number.NaN })).toThrow(
    /Budget.costUsd is NaN; it must be a number of 0 or more/,
  );
});

test.concurrent('the catalogue prices what it knows, dated releases included, and nothing else', () => {
  const usage = { inputTokens: 100_000, outputTokens: 10_000, cacheReadTokens: 50_000 };
  const priceOf = (provider: string, model: string) => catalogPriceOf({ usage, provider, model });
  expect(priceOf('anthropic.messages', 'claude-sonnet-4-5-20250929')).toBeCloseTo(0.3 + 0.015 + 0.15);
  expect(priceOf('openai.responses', 'gpt-5.2-2025-12-11')).toBeCloseTo(0.175 + 0.00875 + 0.14);
  expect(priceOf('google.generative-ai', 'gemini-2.5-pro')).toBeCloseTo(0.125 + 0.00625 + 0.1);
  expect(priceOf('openai.responses', 'no-such-model')).toBeUndefined();
  expect(priceOf('other.chat', 'gpt-5.2')).toBeUndefined();
  expect(catalogMaxOutput('openai.responses', 'gpt-5.2')).toBe(32_000);
  expect(catalogMaxOutput('openai.responses', 'unknown')).toBeUndefined();
});

test.concurrent('loop warnings may end an input', async () => {
  const same: ModelStep = () => calls(toolCall('glob', { pattern: 'same' }));
  await using run = await startSession(
    Array.from({ length: 30 }, () => same),
    {
      config: { maxLoopWarnings: 2, loopDetectionWindow: 4 },
    },
  );
  expect(await run.session.submit('go')).toMatchObject({ reason: 'loop', toolRounds: 8 });
  expect(run.of('TURN_LIMIT')[0]?.data).toEqual({ limit: 'loop_warnings', value: 2 });
});

test.concurrent('tokens of a call that is cut off count', async () => {
  await using run = await startSession([[...textParts('and'), finish('length')], says('x')], {
    budget: { tokens: 15 },
  });
  await run.session.submit('go');
  expect(await run.session.submit('go')).toMatchObject({ reason: 'tokens' });
});
