import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PricedUsage, priceUsage } from './price-list.ts';

const million = 1_000_000;

function dollars(of: Partial<PricedUsage['usage']>, rest: Omit<PricedUsage, 'usage'>): number | undefined {
  return priceUsage({ usage: { inputTokens: 0, outputTokens: 0, ...of }, ...rest })?.usd;
}

test('each bucket has its own price in dollars per million tokens', () => {
  const opus = { model: 'claude-opus-4-8', provider: { name: 'anthropic' } };
  expect(dollars({ inputTokens: million }, opus)).toBeCloseTo(5);
  expect(dollars({ outputTokens: million }, opus)).toBeCloseTo(25);
  expect(dollars({ cacheReadTokens: million }, opus)).toBeCloseTo(0.5);
  expect(dollars({ cacheWriteTokens: million }, opus)).toBeCloseTo(6.25);
  expect(dollars({ cacheWriteTokens: million }, { ...opus, cacheWrite1hTokens: million })).toBeCloseTo(10);
  expect(
    dollars(
      { inputTokens: million, cacheReadTokens: million, cacheWriteTokens: million, outputTokens: million },
      { ...opus, cacheWrite1hTokens: million / 2 },
    ),
  ).toBeCloseTo(5 + 0.5 + 3.125 + 5 + 25);
});

test('reasoning is part of the output and is not paid twice', () => {
  const gpt = { model: 'gpt-5.2-codex', provider: { name: 'openai' } };
  expect(dollars({ outputTokens: million, reasoningTokens: million }, gpt)).toBeCloseTo(14);
});

test('a long prompt has its own price, and cached tokens count for its length', () => {
  const gemini = { model: 'gemini-3-pro-preview', provider: { name: 'google' } };
  expect(dollars({ inputTokens: 100_000, cacheReadTokens: 50_000 }, gemini)).toBeCloseTo(0.2 + 0.01);
  expect(dollars({ inputTokens: 100_000, cacheReadTokens: 150_000 }, gemini)).toBeCloseTo(0.4 + 0.06);
});

test('the source names the entry, and the address of an API names its provider', () => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const at = (apiUrl: string, model: string) => priceUsage({ usage, model, provider: { apiUrl } })?.source;
  expect(at('https://api.anthropic.com/v1/messages', 'claude-sonnet-4-5-20250929')).toBe(
    'genai-prices anthropic/claude-sonnet-4-5',
  );
  expect(at('https://openrouter.ai/api/v1', 'openai/gpt-5.2')).toBe('genai-prices openrouter/openai/gpt-5.2');
});

test('a model or provider that is not in the list has no price', () => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  expect(priceUsage({ usage, model: 'gpt-5.2', provider: { name: 'no-such-provider' } })).toBeUndefined();
  expect(priceUsage({ usage, model: 'no-such-model', provider: { name: 'openai' } })).toBeUndefined();
  expect(priceUsage({ usage, model: 'gpt-5.2', provider: { name: 'anthropic' } })).toBeUndefined();
  const proxy = { apiUrl: 'https://proxy.example/v1' };
  expect(priceUsage({ usage, model: 'gpt-5.2', provider: proxy })).toBeUndefined();
  const behindProxy = { ...proxy, orElse: 'openai' };
  expect(priceUsage({ usage, model: 'gpt-5.2', provider: behindProxy })?.source).toContain('openai/gpt-5.2');
  const elsewhere = { apiUrl: 'https://openrouter.ai/api/v1', orElse: 'openai' };
  expect(priceUsage({ usage, model: 'no-such-model', provider: elsewhere })).toBeUndefined();
});

test('more tokens never cost less, in whatever buckets', () => {
  const tokens = fc.nat({ max: 10_000_000 });
  const usages = fc.record({
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
  });
  const bucket = fc.constantFrom(...(['inputTokens', 'outputTokens', 'cacheReadTokens'] as const));
  const models = fc.constantFrom(
    ['openai', 'gpt-5.5'],
    ['anthropic', 'claude-opus-4-8'],
    ['google', 'gemini-2.5-pro'],
  );
  fc.assert(
    fc.property(
      usages,
      bucket,
      tokens,
      tokens,
      models,
      (usage, more, added, hour, [name = '', model = '']) => {
        const rest = { model, provider: { name }, cacheWrite1hTokens: hour };
        const before = dollars(usage, rest) ?? Number.NaN;
        expect(before).toBeGreaterThanOrEqual(0);
        // Floating point: a millionth of a cent is not a difference.
        expect(dollars({ ...usage, [more]: usage[more] + added }, rest)).toBeGreaterThanOrEqual(
          before - 1e-8,
        );
      },
    ),
  );
});
