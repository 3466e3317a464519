import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { calcPrice } from '@pydantic/genai-prices';
import { expect, test } from 'vitest';
import { contextWindowOf, priceUsage } from '../price-list.ts';
import { libraryList, listFiles } from './__fixtures__/library-list.ts';

const list = await libraryList();
const files = listFiles(list);

// Written by `npm test -- packages/events/src/prices -u`, after an update of the library.
test('the files have the prices of the library', async () => {
  for (const [name, text] of files) await expect(text).toMatchFileSnapshot(join(import.meta.dirname, name));
  expect(readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json'))).toEqual(
    [...files.keys()].sort(),
  );
});

const usages = [
  { inputTokens: 1_000, outputTokens: 50, cacheReadTokens: 700, cacheWriteTokens: 300, reasoningTokens: 20 },
  { inputTokens: 150_000, outputTokens: 9_000, cacheReadTokens: 140_001, cacheWriteTokens: 20 },
  { inputTokens: 0, outputTokens: 1 },
];
const dates = ['2024-07-01T03:10:00Z', '2026-11-23T16:30:00.500Z', '2030-01-01T00:00:00Z'].map(
  (date) => new Date(date),
);

test('every listed model costs what the library says, at every time', () => {
  const wrong: object[] = [];
  for (const { id: name, models } of list) {
    for (const [index, { id, prices, context_window: window }] of models.entries()) {
      // The ways of writing a name, and the usages, take turns.
      const model = [id, `${id}-20250929`, id.toUpperCase()][index % 3] ?? id;
      const usage = usages[Math.floor(index / 3) % 3] ?? { inputTokens: 0, outputTokens: 0 };
      for (const at of Array.isArray(prices) ? dates : dates.slice(0, 1)) {
        const price = priceUsage({ usage, cacheWrite1hTokens: 100, model, provider: { name }, at });
        const expected = byLibrary(usage, model, { providerId: name, timestamp: at });
        if (expected?.source !== price?.source || Math.abs((expected?.usd ?? 0) - (price?.usd ?? 0)) > 1e-9)
          wrong.push({ name, model, at, price, expected });
      }
      const own = priceUsage({ usage, model, provider: { name } })?.source === `genai-prices ${name}/${id}`;
      if (own && contextWindowOf(model, { name }) !== window) wrong.push({ name, model, window });
    }
  }
  expect(wrong).toEqual([]);
});

test('providers are found by the names and addresses by which the library finds them', () => {
  const usage = { inputTokens: 1_000, outputTokens: 50 };
  const names = [
    'Azure-OpenAI',
    'google-vertex',
    'bedrock',
    'amazon-bedrock',
    'xai',
    'litellm',
    'gemini',
    '',
  ];
  const addresses = ['https://api.groq.com/openai/v1', 'https://x.openai.azure.com/v1', 'http://127.0.0.1'];
  const models = [
    'gpt-5.2',
    'claude-sonnet-4-5',
    'openai/gpt-5.2',
    'anthropic/claude-opus-4-8',
    'qwen/qwen3-32b',
  ];
  for (const model of models) {
    for (const name of names)
      expect(priceUsage({ usage, model, provider: { name } })?.source, `${name} ${model}`).toBe(
        name === '' ? undefined : byLibrary(usage, model, { providerId: name })?.source,
      );
    for (const apiUrl of addresses)
      expect(priceUsage({ usage, model, provider: { apiUrl } })?.source, `${apiUrl} ${model}`).toBe(
        byLibrary(usage, model, { providerApiUrl: apiUrl })?.source,
      );
  }
});

type Counts = (typeof usages)[number] | { inputTokens: number; outputTokens: number };

function byLibrary(usage: Counts, model: string, options: Parameters<typeof calcPrice>[2]) {
  const { inputTokens, outputTokens } = usage;
  const { cacheReadTokens = 0, cacheWriteTokens = 0 } = 'cacheReadTokens' in usage ? usage : {};
  const price = calcPrice(
    {
      input_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
      cache_read_tokens: cacheReadTokens,
      cache_write_tokens: cacheWriteTokens,
      cache_write_1h_tokens: Math.min(100, cacheWriteTokens),
      output_tokens: outputTokens,
    },
    model,
    options,
  );
  return price && { usd: price.total_price, source: `genai-prices ${price.provider.id}/${price.model.id}` };
}
