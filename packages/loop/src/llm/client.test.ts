import { createGateway, scriptFromSteps } from '@whetstone/gateway';
import { expect, test, vi } from 'vitest';
import { says, scriptedModel } from '../__fixtures__/scripted-model.ts';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { Session } from '../session/session.ts';
import { Client } from './client.ts';
import { createModel } from './create-model.ts';

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }];

/** A lane that answers with a text, and the variables that lead there. */
async function startProvider(text: string) {
  const gateway = await createGateway();
  const script = scriptFromSteps('one answer', [{ text }]);
  const lane = await gateway.open({ owner: text, mode: { kind: 'script', script } });
  return { lane, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

test.each([
  ['openai/gpt-5.2', 'openai-responses'],
  ['anthropic/claude-opus-4-8', 'anthropic-messages'],
  ['google/gemini-3-pro-preview', 'gemini-generate-content'],
])('%s is called at its provider, whole, streamed and by a session', async (name, wire) => {
  await using provider = await startProvider('hello');
  const client = Client.fromEnv(provider.lane.env);
  expect(client.providers).toEqual(['openai', 'anthropic', 'google']);

  const whole = await client.complete({ model: name, prompt });
  expect(whole.content).toMatchObject([{ type: 'text', text: 'hello' }]);
  const { stream } = await client.stream({ model: name, prompt });
  let streamed = '';
  for await (const part of stream) if (part.type === 'text-delta') streamed += part.delta;
  expect(streamed).toBe('hello');

  await using place = await temporaryEnvironment();
  await using session = new Session({ ...client.resolve(name), environment: place.environment });
  expect(await session.submit('hello')).toMatchObject({ reason: 'completed', text: 'hello' });

  const asked = provider.lane.ledger.map((line) => [line.wire, line.model_asked]);
  expect(asked).toEqual(Array(3).fill([wire, name.slice(name.indexOf('/') + 1)]));
});

test('a routed model calls itself what the loaded one does', async () => {
  const client = new Client({ providers: { openai: {}, anthropic: {}, google: {} } });
  for (const provider of ['openai', 'anthropic', 'google'] as const) {
    const loaded = await createModel({ provider, model: 'some-model', apiKey: 'none' });
    const routed = client.model(`${provider}/some-model`);
    expect([routed.provider, routed.modelId]).toEqual([loaded.provider, loaded.modelId]);
    expect(await routed.supportedUrls).toEqual(await loaded.supportedUrls);
  }
});

test('a provider of the host, its model names with slashes, and its profile', async () => {
  const asked: string[] = [];
  const own = {
    languageModel: (modelId: string) => {
      asked.push(modelId);
      return scriptedModel([says('mine')]);
    },
    createProfile: createAnthropicProfile,
  };
  const client = new Client({ providers: { own, openai: { apiKey: 'none' } }, defaultProvider: 'own' });
  expect(client.resolve('own/vendor/model').profile).toMatchObject({
    id: 'anthropic',
    model: 'vendor/model',
  });
  await client.stream({ model: 'own/vendor/model', prompt });
  await client.stream({ model: 'model', prompt });
  expect(asked).toEqual(['vendor/model', 'vendor/model', 'model']);
  expect(() => client.model('vendor/model')).toThrow(/no provider "vendor"/);
});

test('an unknown name is refused, and nothing is guessed', () => {
  const two = new Client({ providers: { openai: {}, google: {} } });
  expect(() => two.model('gpt-5.2')).toThrow(
    /No provider .*"gpt-5.2".* Configured providers: openai, google/,
  );
  expect(() => Client.fromEnv({}).model('gpt-5.2')).toThrow(
    /Configured providers: none.* set one of OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY/,
  );
  expect(() => new Client({ providers: { mistral: { apiKey: 'x' } } })).toThrow(/mistral is not built in/);
  expect(() => new Client({ providers: { openai: {} }, defaultProvider: 'google' })).toThrow(
    /google is not configured/,
  );
  expect(new Client({ providers: { openai: {} } }).model('gpt-5.2').modelId).toBe('gpt-5.2');
});

test('a provider that is not configured never gets its request sent to another one', async () => {
  await using provider = await startProvider('hello');
  const { ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL } = provider.lane.env;
  const client = Client.fromEnv({ ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL });
  expect(client.providers).toEqual(['anthropic']);
  for (const [name, code, message] of [
    ['openai/gpt-5.5', 'model-key-missing', /Set OPENAI_API_KEY .* Configured providers: anthropic/],
    ['google/x', 'model-key-missing', /Set GEMINI_API_KEY .* Configured providers: anthropic/],
    ['opnai/x', 'model-configuration-invalid', /"opnai".*mean openai\? Configured providers: anthropic/],
    ['anthropic/', 'model-configuration-invalid', /There is no model in "anthropic\/"/],
    ['', 'model-configuration-invalid', /There is no model in ""/],
    ['/x', 'model-configuration-invalid', /There is no provider in "\/x".* Configured providers: anthropic/],
  ] as const) {
    const refused = expect.objectContaining({ code, message: expect.stringMatching(message) });
    expect(() => client.resolve(name)).toThrow(refused);
    await expect(client.complete({ model: name, prompt })).rejects.toEqual(refused);
  }
  expect(provider.lane.ledger).toEqual([]);
});

test('without a key the error names the variable to set', async () => {
  const names = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'];
  for (const name of names) vi.stubEnv(name, undefined);
  try {
    const client = new Client({ providers: { openai: {}, anthropic: {}, google: {} } });
    for (const [model, variable] of [
      ['openai/gpt-5.2', 'OPENAI_API_KEY'],
      ['anthropic/claude-opus-4-8', 'ANTHROPIC_API_KEY'],
      ['google/gemini-3-pro-preview', 'GEMINI_API_KEY'],
    ] as const)
      await expect(client.complete({ model, prompt })).rejects.toMatchObject({
        code: 'model-key-missing',
        message: expect.stringContaining(variable),
      });
  } finally {
    vi.unstubAllEnvs();
  }
});

test('what a provider refuses is a typed error', async () => {
  await using provider = await startProvider('hello');
  const baseUrl = `${provider.lane.baseUrl}/v1`;
  const client = new Client({ providers: { openai: { baseUrl, apiKey: 'wrong' } } });
  const refused = {
    name: 'LlmError',
    code: 'model-authentication-failed',
    statusCode: 401,
    retryable: false,
  };
  await expect(client.complete({ model: 'gpt-5.2', prompt })).rejects.toMatchObject(refused);
  await expect(client.stream({ model: 'gpt-5.2', prompt })).rejects.toMatchObject(refused);
  const aborted = client.complete({ model: 'gpt-5.2', prompt, abortSignal: AbortSignal.abort() });
  await expect(aborted).rejects.toMatchObject({ code: 'model-call-aborted' });
});
