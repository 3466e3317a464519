import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Provider, sendJson, startProvider } from '../__fixtures__/provider.ts';
import { createGateway, type Gateway, type Lane } from '../index.ts';

const login = 'oauth-token-of-the-user-4711';
let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: `You are ${login}.` }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 7, output_tokens: 3 },
};

/** A provider that takes only this login, in the form in which it was given out. */
const strictProvider = (): Promise<Provider> =>
  startProvider((response, { headers }) =>
    headers.authorization === `Bearer ${login}`
      ? sendJson(response, 200, message)
      : sendJson(response, 401, { error: { message: 'no' } }),
  );

const laneTo = (baseUrl: string): Promise<Lane> =>
  gateway.open({
    owner: 'a',
    mode: { kind: 'forward', upstreams: { 'anthropic-messages': { baseUrl, key: 'client' } } },
  });

const postJson = (url: string, body: unknown, headers: Record<string, string>): Promise<Response> =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), headers });

const ask = (baseUrl: string, headers: Record<string, string>) =>
  postJson(
    `${baseUrl}/v1/messages`,
    { model: 'claude-x', messages: [{ role: 'user', content: 'hi' }] },
    headers,
  );

test('the credentials of a client pass unchanged, and its calls are metered', async () => {
  await using provider = await strictProvider();
  await using lane = await laneTo(provider.url);
  const beta = { 'anthropic-beta': 'oauth-2025-04-20', 'chatgpt-account-id': 'account-1' };
  const answer = await ask(`${lane.baseUrl}.${lane.key}`, { authorization: `Bearer ${login}`, ...beta });
  expect(answer.status).toBe(200);
  // What the provider quotes of the login does not come back.
  expect(await answer.text()).not.toContain(login);
  expect(provider.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${login}`, ...beta });
  expect(JSON.stringify(provider.requests)).not.toContain(lane.key);
  expect(lane.ledger).toMatchObject([
    { status: 200, model_answered: 'claude-x', usage: { inputTokens: 7, outputTokens: 3 }, flags: [] },
  ]);
  expect(JSON.stringify(lane.ledger)).not.toContain(login);
});

test("a login opens no lane: the address must have the lane's key", async () => {
  await using provider = await strictProvider();
  await using lane = await laneTo(provider.url);
  for (const url of [lane.baseUrl, `${lane.baseUrl}.sk-whetstone-other`]) {
    expect((await ask(url, { authorization: `Bearer ${login}` })).status).toBe(401);
  }
  expect((await ask(`${lane.baseUrl}.${lane.key}`, { authorization: `Bearer ${lane.key}` })).status).toBe(
    401,
  );
  expect(provider.requests).toEqual([]);
  expect(lane.ledger.map(({ flags }) => flags)).toEqual([['unauthenticated'], ['unauthenticated'], []]);
});

test('a client can refresh its login; a refusal that lasts becomes a status at which agents give up', async () => {
  await using provider = await strictProvider();
  await using lane = await laneTo(provider.url);
  const from = async (token: string) => {
    const { status, headers } = await ask(`${lane.baseUrl}.${lane.key}`, {
      authorization: `Bearer ${token}`,
    });
    return [status, headers.get('x-should-retry')];
  };
  expect(await from('old')).toEqual([401, null]);
  expect(await from(login)).toEqual([200, null]);
  expect([await from('old'), await from('old'), await from('old')]).toEqual([
    [401, null],
    [401, null],
    [403, 'false'],
  ]);
  expect(lane.ledger.at(-1)).toMatchObject({
    flags: ['access-refused'],
    error: expect.stringContaining(
      'refused the login that the agent sent. It answered 401, and has refused 3 calls',
    ),
  });
});

test("a refusal of the gateway's own key is final at once for clients that heed x-should-retry", async () => {
  await using provider = await strictProvider();
  await using lane = await gateway.open({
    owner: 'a',
    mode: {
      kind: 'forward',
      upstreams: { 'openai-responses': { baseUrl: `${provider.url}/v1`, key: { command: 'echo wrong' } } },
    },
  });
  const answers: unknown[] = [];
  for (let call = 0; call < 3; call += 1) {
    const body = { model: 'm', input: 'hi' };
    const answer = await postJson(`${lane.baseUrl}/v1/responses`, body, {
      authorization: `Bearer ${lane.key}`,
    });
    answers.push([answer.status, answer.headers.get('x-should-retry')]);
  }
  expect(answers).toEqual([
    [401, 'false'],
    [401, 'false'],
    [400, 'false'],
  ]);
});
