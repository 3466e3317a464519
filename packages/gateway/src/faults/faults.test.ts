import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  clientOf,
  nextCall,
  postJson,
  shellTool,
  stream,
  userPrompt,
} from '../__fixtures__/clients.ts';
import {
  createGateway,
  type Fault,
  type FaultRule,
  type Gateway,
  type Lane,
  type LaneOptions,
  scriptFromSteps,
  type WireProtocol,
  wireProtocols,
} from '../index.ts';
import { chooseFaults } from './choose-faults.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await createGateway();
});
afterAll(() => gateway.close());

const script = scriptFromSteps('s', [
  { text: 'A long enough text to come in several pieces, as it does from a model. '.repeat(4) },
]);
const open = (faults: FaultRule[], options: Partial<LaneOptions> = {}): Promise<Lane> =>
  gateway.open({ owner: 'a', mode: { kind: 'script', script }, faults, ...options });
const always = (fault: Fault): FaultRule[] => [{ fault }];

const request = { model: 'm', stream: true, messages: [{ role: 'user', content: 'go' }] };
const whole = { ...request, stream: false };
const post = (lane: Lane, body: unknown = request, signal?: AbortSignal): Promise<Response> =>
  fetch(`${lane.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': lane.key },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

describe("a provider's errors", () => {
  test.each([
    [{ status: 401 }, null, 'authentication_error'],
    [{ status: 429 }, null, 'rate_limit_error'],
    [{ status: 429, retryAfterSeconds: 3 }, '3', 'rate_limit_error'],
    [{ status: 500 }, null, 'api_error'],
    [{ status: 529 }, null, 'overloaded_error'],
  ])('%j has the shape of its provider', async (fault, retryAfter, type) => {
    await using lane = await open(always({ kind: 'status', ...fault }));
    const answer = await postJson(lane, '/v1/messages', request);
    expect(answer).toMatchObject({ status: fault.status, body: { type: 'error', error: { type } } });
    expect(answer.headers.get('retry-after')).toBe(retryAfter);
    expect(lane.ledger).toMatchObject([{ status: fault.status, faults: ['status'], usage: null }]);
  });

  test.each(wireProtocols)('on %s, a client continues after one 500', async (wire: WireProtocol) => {
    await using lane = await open([{ fault: { kind: 'status', status: 500 }, when: { first: 1 } }]);
    const options = { prompt: userPrompt('go') };
    await expect(stream(clientOf(wire, lane), options)).rejects.toMatchObject({ isRetryable: true });
    expect((await stream(clientOf(wire, lane), options)).finish).toBe('stop');
    expect(lane.ledger.map(({ status, retries }) => [status, retries])).toEqual([
      [500, 0],
      [200, 1],
    ]);
  });
});

describe('faults of the connection', () => {
  test.each(['refused', 'reset'] as const)('%s', async (kind) => {
    await using lane = await open(always({ kind }));
    await expect(post(lane)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect(lane.ledger).toMatchObject([{ status: null, outcome: 'error', faults: [kind] }]);
    expect((await call(lane, '/v1/models')).status).toBe(200);
  });

  test('hang gives no answer until the client gives up', async () => {
    const { onCall, line } = nextCall();
    const client = new AbortController();
    const giveUp = () => client.abort(new Error('the client gave up'));
    // The gateway has read the call by then, and has had time for an answer.
    const onRequest = () => void setTimeout(giveUp, 50);
    await using lane = await open(always({ kind: 'hang' }), { onCall, onRequest });
    await expect(post(lane, request, client.signal)).rejects.toThrow('the client gave up');
    expect(await line).toMatchObject({ outcome: 'client-closed', status: null });
  });

  test('a lane closes while its calls hang', async () => {
    const lane = await open(always({ kind: 'hang-mid-stream' }));
    const response = await post(lane);
    await response.body?.getReader().read();
    await lane.close();
    expect(lane.ledger).toMatchObject([{ error: 'The lane was closed.' }]);
  });

  test('hang-mid-stream sends the beginning and nothing more', async () => {
    const { onCall, line } = nextCall();
    await using lane = await open(always({ kind: 'hang-mid-stream', afterEvents: 1 }), { onCall });
    const client = new AbortController();
    const response = await post(lane, request, client.signal);
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toMatch(
      /^event: message_start\n.*\n\n$/,
    );
    setTimeout(() => client.abort(new Error('the client gave up')), 50);
    await expect(reader?.read()).rejects.toThrow('the client gave up');
    expect((await line).outcome).toBe('client-closed');
  });
});

describe('faults of the body', () => {
  const textOf = async (body: unknown, fault: Fault): Promise<string> => {
    await using lane = await open(always(fault));
    return (await post(lane, body)).text();
  };

  test('truncated ends a stream cleanly, but too early', async () => {
    const events = (await textOf(request, { kind: 'truncated', afterEvents: 3 })).split('\n\n');
    expect(events.map((event) => event.split('\n')[0])).toEqual([
      'event: message_start',
      'event: ping',
      'event: content_block_start',
      '',
    ]);
    expect(await textOf(request, { kind: 'truncated', afterEvents: 0 })).toBe('');
    expect(() => JSON.parse(body)).toThrow('JSON');
  });
  let body = '';
  beforeAll(async () => {
    body = await textOf(whole, { kind: 'truncated' });
  });

  test('a stream that ended too early counts as failed, so the next call is a retry', async () => {
    await using lane = await open([{ fault: { kind: 'truncated' }, when: { first: 2 } }]);
    for (let time = 0; time < 4; time++) await (await post(lane)).text();
    expect(lane.ledger.map((line) => line.retries)).toEqual([0, 1, 2, 0]);
  });

  test('garbage puts bytes that are not an event into a stream', async () => {
    expect(await textOf(request, { kind: 'garbage' })).toMatch(/^event: message_start\n[\s\S]*<html>/);
    expect(await textOf(whole, { kind: 'garbage' })).toMatch(/^\0.*<html>/);
  });

  test('slow-tokens and latency delay an answer and do not change it', async () => {
    await using lane = await open([
      { fault: { kind: 'latency', ms: 30 } },
      { fault: { kind: 'slow-tokens', ms: 2 } },
    ]);
    await using plain = await open([]);
    const ids = /"msg_\w+"/g;
    const slow = (await (await post(lane)).text()).replace(ids, '');
    expect(slow).toBe((await (await post(plain)).text()).replace(ids, ''));
    const [line] = lane.ledger;
    expect(line?.first_byte_ms).toBeGreaterThanOrEqual(29);
    expect((line?.total_ms ?? 0) - (line?.first_byte_ms ?? 0)).toBeGreaterThan(10);
  });

  describe.each(wireProtocols)('malformed-tool-json on %s', (wire: WireProtocol) => {
    const calling = scriptFromSteps('c', [{ calls: [{ tool: 'shell', command: 'ls' }] }]);

    test.each([true, false])('streamed: %s', async (streamed) => {
      await using lane = await open(always({ kind: 'malformed-tool-json' }), {
        mode: { kind: 'script', script: calling },
      });
      const model = clientOf(wire, lane);
      const options = { prompt: userPrompt('go'), tools: [shellTool] };
      const received = streamed
        ? await inputsOf(stream(model, options).then(({ calls }) => calls.map((each) => each.input)))
        : await inputsOf(
            Promise.resolve(model.doGenerate(options)).then(({ content }) =>
              content.flatMap((part) => (part.type === 'tool-call' ? [part.input] : [])),
            ),
          );
      expect(received).not.toContainEqual({ command: 'ls' });
      expect(lane.ledger).toMatchObject([{ status: 200, tools_called: ['shell'] }]);
    });
  });
});

/** The inputs that a tool would get. An input that a client refuses or cannot read is not one. */
async function inputsOf(inputs: Promise<string[]>): Promise<unknown[]> {
  const texts = await inputs.catch(() => []);
  return texts.flatMap((text) => {
    try {
      return [JSON.parse(text)];
    } catch {
      return [];
    }
  });
}

describe('a rule applies', () => {
  const met = (rule: FaultRule, owner = 'a'): number[] =>
    Array.from({ length: 200 }, (_, index) => index + 1).filter(
      (callNumber) => chooseFaults([rule], callNumber, owner).length > 0,
    );
  const fault: Fault = { kind: 'reset' };

  test('to the first calls, to every nth call, or to all calls', () => {
    expect(met({ fault, when: { first: 3 } })).toEqual([1, 2, 3]);
    expect(met({ fault, when: { every: 50 } })).toEqual([50, 100, 150, 200]);
    expect(met({ fault })).toHaveLength(200);
  });

  test('by chance: to the same calls with the same seed and owner, to others with others', () => {
    const rule = (seed: string): FaultRule => ({ fault, when: { probability: 0.25, seed } });
    expect(met(rule('x'))).toEqual(met(rule('x')));
    expect(met(rule('x'))).not.toEqual(met(rule('y')));
    expect(met(rule('x'))).not.toEqual(met(rule('x'), 'b'));
    expect(met(rule('x')).length).toBeGreaterThan(25);
    expect(met(rule('x')).length).toBeLessThan(80);
  });

  test('only to model calls, and a fault before the answer keeps the call from the model', async () => {
    await using lane = await open([{ fault: { kind: 'status', status: 500 }, when: { first: 1 } }]);
    await call(lane, '/v1/models');
    expect((await postJson(lane, '/v1/messages', whole)).status).toBe(500);
    expect((await postJson(lane, '/v1/messages', whole)).status).toBe(200);
  });
});
