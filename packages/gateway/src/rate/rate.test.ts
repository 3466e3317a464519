import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { call, nextCall, postJson } from '../__fixtures__/clients.ts';
import {
  keyInFile,
  type Provider,
  sendJson,
  sse,
  startProvider,
  upstreamsAt,
} from '../__fixtures__/provider.ts';
import { createGateway, type Gateway, type Lane, type LaneOptions, type RateOptions } from '../index.ts';

const key = keyInFile('key');
const message = {
  type: 'message',
  content: [],
  stop_reason: 'end_turn',
  usage: { input_tokens: 5, output_tokens: 5 },
};
const question = { model: 'm', messages: [{ role: 'user', content: 'go' }] };

const openLane = (gateway: Gateway, provider: Provider, options: Partial<LaneOptions> = {}): Promise<Lane> =>
  gateway.open({
    owner: 'a',
    mode: { kind: 'forward', upstreams: upstreamsAt(provider.url, key) },
    ...options,
  });

/** A provider that answers when the test says so. */
async function startSlowProvider(): Promise<
  Provider & { asked: () => number; answer: (status?: number) => void }
> {
  const open: ((status: number) => void)[] = [];
  let asked = 0;
  const provider = await startProvider(async (response) => {
    asked += 1;
    const { promise, resolve } = Promise.withResolvers<number>();
    open.push(resolve);
    const status = await promise;
    sendJson(response, status, status === 200 ? message : { error: { message: 'Too much.' } }, {
      'retry-after-ms': '20',
    });
  });
  return { ...provider, asked: () => asked, answer: (status = 200) => open.shift()?.(status) };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('What the test waits for did not happen.');
    await delay(2);
  }
}

describe('eight lanes at a provider that takes three calls at once', () => {
  const callsPerLane = 4;

  /** Holds calls until every lane that is not done has called again. */
  function untilAllAsk() {
    const asked = new Set<unknown>();
    const held: (() => void)[] = [];
    let active = 8;
    const check = (): void => {
      if (asked.size < active) return;
      asked.clear();
      for (const release of held.splice(0)) release();
    };
    return {
      hold: () => new Promise<void>((resolve) => held.push(resolve)),
      arrived(lane: unknown) {
        asked.add(lane);
        check();
      },
      done() {
        active -= 1;
        check();
      },
    };
  }

  /** Every lane makes its calls one after the other, and waits as the provider says when it refuses a call. */
  async function run(
    rate: RateOptions | false,
    hold: () => Promise<void>,
    { arrived, done }: Pick<ReturnType<typeof untilAllAsk>, 'arrived' | 'done'>,
  ): Promise<{ refused: number; queued: number }> {
    let underWay = 0;
    await using provider = await startProvider(async (response, { headers }) => {
      if (underWay >= 3) {
        sendJson(response, 429, { error: { message: 'Too much.' } }, { 'retry-after-ms': '10' });
        arrived(headers['x-lane']);
        return;
      }
      underWay += 1;
      const held = hold();
      arrived(headers['x-lane']);
      await held;
      underWay -= 1;
      sendJson(response, 200, message);
    });
    await using gateway = await createGateway({ rate });
    const lanes = await Promise.all(Array.from({ length: 8 }, () => openLane(gateway, provider)));
    await Promise.all(
      lanes.map(async (lane) => {
        for (let answered = 0; answered < callsPerLane; ) {
          const response = await call(lane, '/v1/messages', {
            method: 'POST',
            headers: { 'x-lane': lane.id },
            body: JSON.stringify(question),
          });
          if (response.status === 200) answered += 1;
          else await delay(Number(response.headers.get('retry-after-ms')));
        }
        done();
      }),
    );
    const lines = lanes.flatMap((lane) => lane.ledger);
    expect(lines.filter((line) => line.status === 200)).toHaveLength(8 * callsPerLane);
    return {
      refused: lines.filter((line) => line.status === 429).length,
      queued: lines.filter((line) => line.queued_ms > 0).length,
    };
  }

  test('have few refusals with the limit', async () => {
    const { refused, queued } = await run({}, () => delay(20), { arrived() {}, done() {} });
    // Five of the first eight, one when the limit is halved to four, and one for every two rounds at two and at three.
    expect(refused).toBeLessThanOrEqual(5 + 1 + Math.floor((8 * callsPerLane) / 10));
    expect(queued).toBeGreaterThan(0);
  });

  test('have five of eight calls refused every time without the limit', async () => {
    const provider = untilAllAsk();
    const { refused, queued } = await run(false, provider.hold, provider);
    // For at least as many rounds as each lane has calls, until the first lane is done.
    expect(refused).toBeGreaterThanOrEqual(5 * callsPerLane);
    expect(queued).toBe(0);
  });
});

describe('a call that waits for its turn', () => {
  test('goes in the order of arrival, over all lanes, and the ledger has how long it waited', async () => {
    await using provider = await startSlowProvider();
    await using gateway = await createGateway({ rate: { most: 1 } });
    let arrived = 0;
    const onRequest = (): void => {
      arrived += 1;
    };
    const lanes = await Promise.all([1, 2, 3].map(() => openLane(gateway, provider, { onRequest })));
    const ended: number[] = [];
    const calls: Promise<unknown>[] = [];
    for (const [index, lane] of lanes.entries()) {
      calls.push(postJson(lane, '/v1/messages', question).then(() => ended.push(index)));
      await until(() => arrived === index + 1);
    }
    await until(() => provider.asked() === 1);
    await delay(5);
    for (const asked of [1, 2, 3]) {
      await until(() => provider.asked() === asked);
      provider.answer();
      await until(() => ended.length === asked);
    }
    await Promise.all(calls);
    expect(ended).toEqual([0, 1, 2]);
    const [first, second, third] = lanes.map((lane) => lane.ledger[0]);
    expect(first?.queued_ms).toBe(0);
    expect(second?.queued_ms).toBeGreaterThan(0);
    expect(third?.total_ms).toBeGreaterThanOrEqual(third?.queued_ms ?? Number.NaN);
  });

  test('is forgotten when its client leaves', async () => {
    await using provider = await startSlowProvider();
    await using gateway = await createGateway({ rate: { most: 1 } });
    await using busy = await openLane(gateway, provider);
    const first = postJson(busy, '/v1/messages', question);
    await until(() => provider.asked() === 1);

    const { onCall, line } = nextCall();
    const arrived = Promise.withResolvers<void>();
    await using leaving = await openLane(gateway, provider, { onCall, onRequest: () => arrived.resolve() });
    const client = new AbortController();
    const left = fetch(`${leaving.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': leaving.key },
      body: JSON.stringify(question),
      signal: client.signal,
    });
    await arrived.promise;
    await delay(5);
    client.abort();
    await expect(left).rejects.toThrow();
    expect(await line).toMatchObject({
      outcome: 'client-closed',
      status: null,
      queued_ms: expect.any(Number),
    });
    expect((await line).queued_ms).toBeGreaterThan(0);

    provider.answer();
    expect((await first).status).toBe(200);
    const next = postJson(busy, '/v1/messages', question);
    await until(() => provider.asked() === 2);
    provider.answer();
    expect((await next).status).toBe(200);
    expect(provider.requests).toHaveLength(2);
  });

  test('is not made when the budget is used up while it waits', async () => {
    await using provider = await startSlowProvider();
    await using gateway = await createGateway({ rate: { most: 1 }, budget: { tokens: 8 } });
    let arrived = 0;
    const onRequest = (): void => {
      arrived += 1;
    };
    await using lane = await openLane(gateway, provider, { onRequest });
    const [first, second] = [1, 2].map(() => postJson(lane, '/v1/messages', question));
    await until(() => provider.asked() === 1 && arrived === 2);
    provider.answer();
    const [made, refused] = (await Promise.all([first, second])).sort(
      (a, b) => (a?.status ?? 0) - (b?.status ?? 0),
    );
    expect(made?.status).toBe(200);
    expect(refused).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining('used up (tokens)') } },
    });
    expect(lane.ledger[1]).toMatchObject({ flags: ['over-budget', 'shared-budget'], usage: null });
    expect(provider.requests).toHaveLength(1);
  });

  test('is made when it is the last call of its budget', async () => {
    await using provider = await startSlowProvider();
    await using gateway = await createGateway({ rate: { most: 1 }, budget: { calls: 2 } });
    await using lane = await openLane(gateway, provider);
    const both = [1, 2].map(() => postJson(lane, '/v1/messages', question));
    for (const asked of [1, 2]) {
      await until(() => provider.asked() === asked);
      provider.answer();
    }
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test('gets a 429 from the gateway when it waits too long', async () => {
    await using provider = await startSlowProvider();
    await using gateway = await createGateway({ rate: { most: 1, maxWaitMs: 30 } });
    await using lane = await openLane(gateway, provider);
    const first = postJson(lane, '/v1/messages', question);
    await until(() => provider.asked() === 1);
    const held = await postJson(lane, '/v1/messages', question);
    expect(held).toMatchObject({
      status: 429,
      body: { error: { type: 'rate_limit_error', message: expect.stringContaining('held this call back') } },
    });
    expect(held.headers.get('retry-after')).toBe('1');
    provider.answer();
    await first;
  });

  test("waits for the pause that the provider asks for, in a header or in Google's way", async () => {
    const waits = [{ 'retry-after-ms': '120' }, { details: [{ retryDelay: '0.12s' }] }];
    for (const wait of waits) {
      const askedAt: number[] = [];
      await using provider = await startProvider((response) => {
        askedAt.push(performance.now());
        if (askedAt.length > 1) sendJson(response, 200, { candidates: [] });
        else if ('details' in wait) sendJson(response, 429, { error: { ...wait } });
        else sendJson(response, 503, {}, wait);
      });
      await using gateway = await createGateway();
      await using lane = await openLane(gateway, provider);
      const path = '/v1beta/models/m:generateContent';
      const refused = await postJson(lane, path, { contents: [] });
      expect(refused.status).toBeGreaterThanOrEqual(429);
      expect((await postJson(lane, path, { contents: [] })).status).toBe(200);
      expect((askedAt[1] ?? 0) - (askedAt[0] ?? 0)).toBeGreaterThanOrEqual(119);
    }
  });
});

describe('a refusal in a stream that began with status 200', () => {
  const anthropic = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const responses = {
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down.' } },
  };
  const chat = { choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { code: 429 } }] };
  const gemini = { error: { code: 503, status: 'UNAVAILABLE', message: 'Overloaded' } };

  const askForStream = async (lane: Lane, path: string): Promise<string> => {
    const headers = { authorization: `Bearer ${lane.key}` };
    const response = await fetch(`${lane.baseUrl}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...question, stream: true }),
    });
    return response.text();
  };

  test.each([
    ['/v1/messages', anthropic, 'outage'],
    ['/v1/responses', responses, 'limit'],
    ['/v1/chat/completions', chat, 'limit'],
    ['/v1beta/models/m:streamGenerateContent?alt=sse', gemini, 'outage'],
  ])('halves the limit and makes the next call wait: %s', async (path, refusal, kind) => {
    const askedAt: number[] = [];
    const underWay = { now: 0, most: 0 };
    const fourAsked = Promise.withResolvers<void>();
    await using provider = await startProvider(async (response) => {
      askedAt.push(performance.now());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (askedAt.length <= 4) {
        // So that the four are under way together.
        if (askedAt.length === 4) fourAsked.resolve();
        await fourAsked.promise;
        response.end(sse(refusal));
        return;
      }
      underWay.now += 1;
      underWay.most = Math.max(underWay.most, underWay.now);
      await delay(10);
      underWay.now -= 1;
      response.end(sse({}));
    });
    await using gateway = await createGateway({ rate: { most: 4, maxPauseMs: 60 } });
    await using lane = await openLane(gateway, provider);
    const ask = () => askForStream(lane, path);
    await Promise.all(Array.from({ length: 4 }, ask));
    // A client may have its answer before the gateway has noted what it was.
    await until(() => lane.ledger.length === 4);
    expect(lane.ledger[0]).toMatchObject({
      status: 200,
      outcome: 'error',
      finish: 'error',
      flags: expect.arrayContaining([`${kind}-in-answer`]),
      error: expect.stringMatching(
        /^The provider failed in its answer: (Overloaded|Slow down\.|no reason given)$/,
      ),
    });
    await delay(1);
    await Promise.all([ask(), ask(), ask()]);
    const [last = 0, next = 0] = askedAt.slice(3, 5);
    expect(next - last).toBeGreaterThanOrEqual(50);
    expect(underWay.most).toBeLessThanOrEqual(2);
  });

  test('is not what an answer says that refuses the call itself', async () => {
    const error = { code: 'context_length_exceeded', message: 'Too long.' };
    await using provider = await startProvider(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(sse({ type: 'response.failed', response: { status: 'failed', error } }));
    });
    await using gateway = await createGateway();
    await using lane = await openLane(gateway, provider);
    await askForStream(lane, '/v1/responses');
    await until(() => lane.ledger.length === 1);
    expect(lane.ledger[0]).toMatchObject({ outcome: 'error', flags: ['unmetered'] });
  });

  test('makes the call after it a retry', async () => {
    let asked = 0;
    await using provider = await startProvider((response) => {
      asked += 1;
      if (asked > 1)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sse(anthropic));
    });
    await using gateway = await createGateway({ rate: { maxPauseMs: 0 } });
    await using lane = await openLane(gateway, provider);
    for (const _ of [1, 2]) await askForStream(lane, '/v1/messages');
    expect(lane.ledger.map(({ finish, retries }) => [finish, retries])).toEqual([
      ['error', 0],
      ['stop', 1],
    ]);
  });
});

test('a turn ends in whatever way its call ends', async () => {
  let asked = 0;
  await using provider = await startProvider((response) => {
    asked += 1;
    if (asked === 1) response.socket?.resetAndDestroy();
    else if (asked === 2) sendJson(response, 401, {});
    else if (asked === 3) response.writeHead(307, { location: '/' }).end();
    else if (asked === 4) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {}\n\n', () => response.socket?.resetAndDestroy());
    } else sendJson(response, asked === 5 ? 500 : 200, message);
  });
  await using gateway = await createGateway({ rate: { most: 1 } });
  await using lane = await openLane(gateway, provider);
  const statuses: unknown[] = [];
  for (let call = 0; call < 6; call++) {
    const { status } = await postJson(lane, '/v1/messages', question).catch(() => ({ status: 'cut off' }));
    statuses.push(status);
  }
  expect(statuses).toEqual([502, 401, 502, 'cut off', 500, 200]);
});
