import { expect, test } from 'vitest';
import { createGateway } from './gateway.ts';
import { scriptFromSteps } from './script/script.ts';
import { upstreamPrice } from './upstream-price.ts';

const usage = { inputTokens: 1_000_000, outputTokens: 0 };
const sourceAt = (upstream: string, model: string) =>
  upstreamPrice({ wire: 'openai-chat-completions', model, usage, cacheWrite1hTokens: 0, upstream })?.source;

test('the price is that of the called provider, or of the maker when the address is unknown', () => {
  expect(sourceAt('https://api.openai.com/v1', 'gpt-5.2')).toBe('genai-prices openai/gpt-5.2');
  expect(sourceAt('https://openrouter.ai/api/v1', 'anthropic/claude-opus-4.6')).toContain('openrouter/');
  expect(sourceAt('http://proxy.internal/v1', 'gpt-5.2')).toBe('genai-prices openai/gpt-5.2');
  expect(sourceAt('http://proxy.internal/v1', 'our-own-model')).toBeUndefined();
  expect(sourceAt('https://openrouter.ai/api/v1', 'no-such-model')).toBeUndefined();
});

test('forwarded calls have list prices, scripted calls have none, and an unknown price is not 0', async () => {
  await using provider = await createGateway();
  await using gateway = await createGateway();
  const script = scriptFromSteps('answer', [
    { text: 'Yes.', usage: { inputTokens: 1000, outputTokens: 10 } },
  ]);
  await using upstream = await provider.open({ owner: 'provider', mode: { kind: 'script', script } });
  process.env.UPSTREAM_PRICE_TEST_KEY = upstream.key;
  await using lane = await gateway.open({
    owner: 'agent',
    mode: {
      kind: 'forward',
      upstreams: {
        'anthropic-messages': { baseUrl: upstream.baseUrl, key: { env: 'UPSTREAM_PRICE_TEST_KEY' } },
      },
    },
  });
  for (const model of ['claude-opus-4-8', 'our-own-model']) {
    const response = await fetch(`${lane.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': lane.key },
      body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: 'user', content: 'Yes?' }] }),
    });
    await response.text();
  }
  await lane.close();
  expect(lane.ledger.map((line) => [line.cost_usd, line.price_source])).toEqual([
    [(1000 * 5 + 10 * 25) / 1_000_000, 'genai-prices anthropic/claude-opus-4-8'],
    [null, null],
  ]);
  expect(upstream.ledger.map((line) => line.cost_usd)).toEqual([null, null]);
});
