import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startModelServer } from '../__fixtures__/model-server.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import { type ProviderError, providerErrors } from './__fixtures__/provider-errors.ts';
import { createModel } from './create-model.ts';

/** Answers with the fixture whose number is in the address. */
const server = createServer((request, response) => {
  const number = Number(/^\/(\d+)\//.exec(request.url ?? '')?.[1]);
  const { status, headers, body } = providerErrors[number] as ProviderError;
  const isStream = Array.isArray(body);
  const type = isStream ? 'text/event-stream' : typeof body === 'string' ? 'text/html' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  if (isStream) for (const event of body) response.write(`event: error\ndata: ${JSON.stringify(event)}\n\n`);
  response.end(isStream ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  request.resume();
});
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.closeAllConnections());

const modelOf = (fixture: ProviderError) =>
  createModel({
    provider: fixture.wire,
    model: 'some-model',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${providerErrors.indexOf(fixture)}/v1`,
    apiKey: 'test-key',
  });

test.each(providerErrors.map((fixture) => [`${fixture.from}: ${fixture.what}`, fixture] as const))(
  '%s',
  async (_name, fixture) => {
    const slept: number[] = [];
    const clock = {
      now: Date.now,
      random: () => 0.5,
      sleep: async (ms: number) => void slept.push(ms),
    };
    const model = await modelOf(fixture);
    await using run = await startSession([], { model, clock, config: { maxRetries: 1 } });
    const { error, reason } = await run.session.submit('hi');
    expect(error?.code ?? reason).toBe(
      fixture.code === 'model-context-overflow' && error === undefined ? 'context_overflow' : fixture.code,
    );
    const wait = { no: [], backoff: [1_000] }[fixture.retried as 'no'] ?? [fixture.retried];
    expect(slept).toEqual(wait);
  },
);

test('a connection that breaks in the middle of an answer is called so, not a success', async () => {
  const breaking = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n');
    setTimeout(() => response.destroy(), 20);
  });
  await new Promise<void>((resolve) => void breaking.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(breaking.address() as AddressInfo).port}/v1`;
  const model = await createModel({ provider: 'openai', model: 'some-model', baseUrl, apiKey: 'k' });
  await using run = await startSession([], { model, config: { maxRetries: 0 } });
  const { error } = await run.session.submit('hi');
  breaking.close();
  expect(error).toEqual({
    code: 'model-network-failed',
    message: 'The response broke off: terminated (other side closed)',
  });
});

test.each(['anthropic', 'google', 'openai'] as const)(
  'an error with status 200 in place of a stream of %s is what it says',
  async (provider) => {
    const bodies = [{ error: 'the pool is empty' }, { error: { message: 'no more today', code: 402 } }];
    await using gateway = await startModelServer(bodies.map((body) => ({ status: 200, body })));
    const model = await createModel({ provider, model: 'some-model', baseUrl: gateway.baseUrl, apiKey: 'k' });
    await using run = await startSession([], { model });
    const { error } = await run.session.submit('hi');
    expect(run.of('WARNING').at(-1)?.data).toMatchObject({
      code: 'model-retry',
      message: expect.stringContaining('the pool is empty'),
    });
    expect(error).toMatchObject({
      code: 'model-quota-exceeded',
      message: expect.stringContaining('no more today'),
    });
  },
);

test.each([
  ['anthropic', 'x-api-key'],
  ['google', 'x-goog-api-key'],
  ['openai', 'authorization'],
] as const)('the key of %s does not follow a redirect to another host', async (provider, header) => {
  const asked: unknown[] = [];
  const redirecting = createServer(({ url, headers }, response) => {
    asked.push(headers[header]);
    const location = `http://localhost:${(redirecting.address() as AddressInfo).port}/elsewhere`;
    response.writeHead(url === '/elsewhere' ? 500 : 307, { location }).end();
  });
  await new Promise<void>((resolve) => void redirecting.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/v1`;
  const model = await createModel({ provider, model: 'some-model', baseUrl, apiKey: 'k' });
  await using run = await startSession([], { model });
  const { error } = await run.session.submit('hi');
  redirecting.closeAllConnections();
  redirecting.close();
  expect(error).toMatchObject({
    code: 'model-configuration-invalid',
    message: expect.stringContaining('a redirect (HTTP 307), which is not followed'),
  });
  expect(asked).toHaveLength(1);
});

test('docs/loop/provider-errors.md is written from the fixtures', async () => {
  const row = ({ from, what, status, code, retried }: ProviderError) => {
    const wait =
      retried === 'no' ? 'no' : retried === 'backoff' ? 'after 1 s, 2 s' : `after ${retried / 1000} s`;
    return `| ${from} | ${what} | ${status} | \`${code}\` | ${wait} |`;
  };
  const page = `# Errors of providers

Written by \`npm test -- -u\` from the fixtures of \`packages/loop/src/llm/__fixtures__/provider-errors.ts\`, which a test sends over HTTP.

What a provider answers, and what the loop makes of it. [errors.md](../errors.md) says what each code means. Retries are limited by \`maxRetries\` (2 by default). A time that the provider names counts, by a header or in its text; where it is longer than a minute, the loop reports the error at once.

| from | what happened | HTTP | code | retried |
| --- | --- | --- | --- | --- |
${providerErrors.map(row).join('\n')}
`;
  await expect(page).toMatchFileSnapshot(
    join(import.meta.dirname, '../../../../docs/loop/provider-errors.md'),
  );
});
