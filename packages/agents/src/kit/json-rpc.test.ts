import type { JsonObject } from '@whetstone/events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Peer } from './dialogue.ts';
import { createJsonRpc, type JsonRpc, RpcError } from './json-rpc.ts';

type Heard = { sent: JsonObject[]; notifications: string[]; rpc: JsonRpc };

/** A program whose lines a test writes, behind a client that repeats the parameters of known methods. */
function open(timeoutMs = 5_000): Heard & { write(...messages: JsonObject[]): void; end(): void } {
  const sent: JsonObject[] = [];
  const notifications: string[] = [];
  const inbox: (JsonObject | undefined)[] = [];
  let wake = (): void => {};
  const peer: Pick<Peer, 'send' | 'next'> = {
    send: (message) => void sent.push(JSON.parse(JSON.stringify(message))),
    async next() {
      while (inbox.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return inbox.shift();
    },
  };
  const put = (...messages: (JsonObject | undefined)[]) => {
    inbox.push(...messages);
    wake();
  };
  const rpc = createJsonRpc(
    peer,
    {
      async onRequest(method, params) {
        if (method === 'echo') return params;
        if (method === 'broken') throw new TypeError('a secret of the host');
        throw new RpcError(-32601, `unknown method ${method}`);
      },
      onNotification: (method) => void notifications.push(method),
    },
    timeoutMs,
  );
  return { sent, notifications, rpc, write: put, end: () => put(undefined) };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('Answers find their requests in any order, between notifications that keep theirs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 5 }), fc.nat(4), async (order, at) => {
      const { rpc, sent, notifications, write } = open();
      const asked = [1, 2, 3, 4, 5].map((n) => rpc.request('ask', { n }));
      expect(sent.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
      for (const [index, id] of order.entries()) {
        if (index === at) write({ method: 'first' }, { method: 'second' });
        write({ id, result: { answer: id * 10 } });
      }
      expect(await Promise.all(asked)).toEqual([10, 20, 30, 40, 50].map((answer) => ({ answer })));
      expect(notifications).toEqual(['first', 'second']);
    }),
    { numRuns: 40 },
  );
});

test('Requests of the program are answered under their own ids, 0 and text included', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.oneof(fc.constant(0), fc.nat(), fc.string()), { minLength: 1, maxLength: 200 }),
      fc.string(),
      async (ids, text) => {
        const { sent, write, end, rpc } = open();
        write(...ids.map((id) => ({ id, method: 'echo', params: { text } })));
        end();
        await rpc.ended;
        await settle();
        expect(sent).toEqual(ids.map((id) => ({ id, result: { text } })));
      },
    ),
    { numRuns: 40 },
  );
});

test('An unknown method and a broken handler get an error, without what is inside', async () => {
  const { sent, write } = open();
  write({ id: 0, method: 'plugin/install', params: {} }, { id: 1, method: 'broken' });
  await settle();
  expect(sent).toEqual([
    { id: 0, error: { code: -32601, message: 'unknown method plugin/install' } },
    { id: 1, error: { code: -32603, message: 'internal error' } },
  ]);
});

test('An answer that comes too late, twice or to nobody changes nothing', async () => {
  const { rpc, write } = open(20);
  await expect(rpc.request('slow', {})).rejects.toMatchObject({ code: -2, message: /slow was not answered/ });
  write({ id: 1, result: { late: true } }, { id: 99, result: {} }, { id: null, error: {} }, { result: {} });
  const next = rpc.request('next', {});
  write({ id: 2, result: { n: 1 } }, { id: 2, result: { n: 2 } });
  expect(await next).toEqual({ n: 1 });
});

test('An error of the program, and its end, are errors of the request', async () => {
  const { rpc, write, end } = open();
  const refused = rpc.request('thread/resume', {});
  write({ id: 1, error: { code: -32600, message: 'no rollout found' } });
  await expect(refused).rejects.toMatchObject({ code: -32600, message: 'no rollout found' });
  const open1 = rpc.request('turn/start', {});
  end();
  await expect(open1).rejects.toThrow('The program has ended.');
  await expect(rpc.request('turn/start', {})).rejects.toThrow('The program has ended.');
});
