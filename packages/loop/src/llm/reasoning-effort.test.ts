import { expect, test } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { createGeminiProfile } from '../profiles/gemini-profile.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import { Session } from '../session/session.ts';
import { createModel } from './create-model.ts';

const profiles = {
  openai: createOpenAiProfile,
  anthropic: createAnthropicProfile,
  google: createGeminiProfile,
};

/** The body of the request that a session with this effort sends. */
async function bodyFor(provider: keyof typeof profiles, name: string, effort: string | undefined) {
  await using place = await temporaryEnvironment();
  const bodies: Record<string, unknown>[] = [];
  const model = await createModel({
    provider,
    model: name,
    apiKey: 'k',
    fetch: async (_url, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return new Response('{"error":{"message":"no"}}', { status: 400 });
    },
  });
  await using session = new Session({
    profile: profiles[provider]({ model: name }),
    environment: place.environment,
    model,
  });
  session.setReasoningEffort(effort);
  await session.submit('hi');
  return bodies[0] ?? {};
}

test('OpenAI gets the effort as it is, its own levels too', async () => {
  expect(await bodyFor('openai', 'gpt-5.2', 'high')).toMatchObject({ reasoning: { effort: 'high' } });
  expect(await bodyFor('openai', 'gpt-5.2', 'xhigh')).toMatchObject({ reasoning: { effort: 'xhigh' } });
  expect((await bodyFor('openai', 'gpt-5.2', undefined)).reasoning).toBeUndefined();
});

test('Anthropic gets a thinking budget, or an adaptive effort where the model has one', async () => {
  const budgeted = await bodyFor('anthropic', 'claude-sonnet-4-5', 'high');
  expect(budgeted.thinking).toMatchObject({ type: 'enabled', budget_tokens: expect.any(Number) });
  const less = await bodyFor('anthropic', 'claude-sonnet-4-5', 'low');
  const budget = (body: Record<string, unknown>) =>
    (body.thinking as { budget_tokens: number }).budget_tokens;
  expect(budget(less)).toBeLessThan(budget(budgeted));
  expect(await bodyFor('anthropic', 'claude-opus-4-6', 'high')).toMatchObject({
    thinking: { type: 'adaptive' },
  });
  expect((await bodyFor('anthropic', 'claude-sonnet-4-5', undefined)).thinking).toBeUndefined();
});

test('Gemini 3 gets a thinking level, 2.5 a budget', async () => {
  const level = await bodyFor('google', 'gemini-3-pro-preview', 'high');
  expect(level).toMatchObject({ generationConfig: { thinkingConfig: { thinkingLevel: 'high' } } });
  const budget = await bodyFor('google', 'gemini-2.5-pro', 'high');
  expect(budget).toMatchObject({
    generationConfig: { thinkingConfig: { thinkingBudget: expect.any(Number) } },
  });
});

test('a response may be as long as the catalogue, the profile and the host allow', async () => {
  expect(await bodyFor('openai', 'gpt-5.2', undefined)).toMatchObject({ max_output_tokens: 32_000 });
  expect(await bodyFor('anthropic', 'claude-sonnet-4-5', undefined)).toMatchObject({ max_tokens: 32_000 });
});
