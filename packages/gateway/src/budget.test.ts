import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, postJson } from './__fixtures__/clients.ts';
import { keyInFile, type Provider, sendJson, startProvider, upstreamsAt } from './__fixtures__/provider.ts';
import { createGateway, type Gateway, type Lane, type LaneOptions } from './index.ts';

const key = keyInFile('real-key');
let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());
const forwardTo = (url: string, options: Partial<LaneOptions>): Promise<Lane> =>
  gateway.open({ owner: 'a', mode: { kind: 'forward', upstreams: upstreamsAt(url, key) }, ...options });

const usage = { input_tokens: 60, output_tokens: 40 };
let provider: Provider;
beforeAll(async () => {
  provider = await startProvider((response) =>
    sendJson(response, 200, { type: 'message', model: 'm-1', content: [], usage }),
  );
});
afterAll(() => provider.close());
const ask = (lane: Lane) => postJson(lane, '/v1/messages', { model: 'm', messages: [] });

test.each([
  [{ calls: 2 }, 'model calls'],
  [{ tokens: 150 }, 'tokens'],
  [{ costUsd: 1.5 }, 'cost'],
])('%j: the call after the limit does not go upstream', async (budget, name) => {
  await using priced = await createGateway({ priceOf: () => ({ usd: 1, source: 'test' }) });
  const mode = { kind: 'forward' as const, upstreams: upstreamsAt(provider.url, key) };
  await using lane = await priced.open({ owner: 'a', mode, budget });
  const before = provider.requests.length;
  const answers = [await ask(lane), await ask(lane), await ask(lane)];
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 403]);
  expect(answers[2]?.body).toMatchObject({
    type: 'error',
    error: { type: 'permission_error', message: expect.stringContaining(`(${name})`) },
  });
  expect(answers[2]?.headers.get('x-should-retry')).toBe('false');
  expect((await call(lane, '/v1/models')).status).toBe(400);
  expect(provider.requests.length - before).toBe(2);
  expect(lane.ledger[0]).toMatchObject({ cost_usd: 1, price_source: 'test' });
  expect(lane.ledger[2]).toMatchObject({ flags: ['over-budget'], usage: null });
});

test("the gateway's budget holds for all lanes together", async () => {
  await using own = await createGateway({ budget: { calls: 3 } });
  const mode = { kind: 'forward' as const, upstreams: upstreamsAt(provider.url, key) };
  await using one = await own.open({ owner: 'a', mode });
  await using two = await own.open({ owner: 'b', mode });
  const statuses = [];
  for (const lane of [one, two, one, two]) statuses.push((await ask(lane)).status);
  expect(statuses).toEqual([200, 200, 200, 403]);
  expect(two.ledger.at(-1)?.flags).toEqual(['over-budget', 'shared-budget']);
});

test("what was used of the gateway's budget before counts", async () => {
  await using own = await createGateway({ budget: { calls: 3 }, used: { calls: 2 } });
  const mode = { kind: 'forward' as const, upstreams: upstreamsAt(provider.url, key) };
  await using lane = await own.open({ owner: 'a', mode });
  expect([(await ask(lane)).status, (await ask(lane)).status]).toEqual([200, 403]);
});

test('a lane whose time is used up refuses calls', async () => {
  await using lane = await forwardTo(provider.url, { budget: { wallMs: 0 } });
  expect((await ask(lane)).status).toBe(403);
});

test('an unknown cost uses up a budget for cost', async () => {
  await using lane = await forwardTo(provider.url, { budget: { costUsd: 100 } });
  expect([(await ask(lane)).status, (await ask(lane)).status]).toEqual([200, 403]);
  expect(lane.ledger[0]?.cost_usd).toBeNull();
  expect(lane.ledger[1]).toMatchObject({
    flags: ['over-budget', 'price-unknown'],
    error: expect.stringContaining('The price of a call is unknown'),
  });
});

test('a request that cannot be metered is never forwarded under a budget for tokens', async () => {
  await using lane = await forwardTo(provider.url, {
    budget: { tokens: 100 },
    allowEndpoints: ['/embeddings'],
  });
  const before = provider.requests.length;
  expect((await call(lane, '/v1/embeddings', { method: 'POST', body: '{}' })).status).toBe(403);
  expect(provider.requests.length).toBe(before);
});
