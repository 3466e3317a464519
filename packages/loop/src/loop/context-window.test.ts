import { expect, test } from 'vitest';
import { finish, says, scriptedModel, textParts } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { createGeminiProfile } from '../profiles/gemini-profile.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';

test.each([
  [createOpenAiProfile, 'gpt-4o', 128_000],
  [createOpenAiProfile, 'gpt-4o-2024-08-06', 128_000],
  [createOpenAiProfile, 'gpt-4.1', 1_000_000],
  [createOpenAiProfile, 'gpt-5.2', 272_000],
  [createOpenAiProfile, 'some-model-of-tomorrow', 272_000],
  [createAnthropicProfile, 'claude-sonnet-4-5', 200_000],
  [createGeminiProfile, 'gemini-2.5-pro', 1_048_576],
])('%o: the window of %s is %i', (create, model, window) => {
  expect(create({ model }).contextWindowSize).toBe(window);
  expect(create({ model, contextWindowSize: 1_000 }).contextWindowSize).toBe(1_000);
});

test('the beta of Claude has a window of a million', () => {
  const options = { model: 'claude-sonnet-4-5', betaHeaders: ['context-1m-2025-08-07'] };
  expect(createAnthropicProfile(options).contextWindowSize).toBe(1_000_000);
});

test('the warning follows the model of the session, and a host can set the window', async () => {
  const text = 'x'.repeat(4 * 110_000);
  for (const [modelId, config, windows] of [
    ['gpt-4o', {}, [128_000]],
    ['gpt-4.1', {}, []],
    ['gpt-4.1', { contextWindowSize: 120_000 }, [120_000]],
  ] as const) {
    const model = { ...scriptedModel([says('ok')], 'openai.responses'), modelId };
    const profile = createOpenAiProfile({ model: 'gpt-5.2' });
    await using run = await startSession([], { model, profile, config });
    await run.session.submit(text);
    const warned = run.of('WARNING').filter(({ data }) => data.code === 'context-usage');
    expect(warned.map(({ data }) => data.data?.window)).toEqual(windows);
  }
});

test('the output limit shrinks to what the window has left', async () => {
  const counted = {
    ...finish('stop'),
    usage: {
      inputTokens: { total: 180_000, noCache: 180_000, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 2_000, text: 2_000, reasoning: undefined },
    },
  };
  const model = {
    ...scriptedModel([[...textParts('long'), counted], says('ok')] as never, 'anthropic.messages'),
    modelId: 'claude-sonnet-4-5',
  };
  await using run = await startSession([], { model });
  await run.session.submit('x'.repeat(400_000));
  await run.session.submit('y'.repeat(4_000));
  const [first, second] = model.requests.map(({ maxOutputTokens }) => maxOutputTokens);
  expect(first).toBe(32_000);
  expect(second).toBe(Math.floor(200_000 - 182_000 - 4_000 / 3));
});
