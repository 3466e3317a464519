import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { drivenAgentKinds } from '@whetstone/agents/config';
import { createGateway } from '@whetstone/gateway';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAgent } from './drive-agent.ts';

/** A provider that refuses every key. */
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe.each(drivenAgentKinds)('%s', (kind) => {
  test('gives up long before its time limit when its provider keeps refusing the key', async () => {
    await using gateway = await createGateway();
    const key = { command: 'echo wrong' };
    const openai = { baseUrl: `${url}/v1`, key };
    await using lane = await gateway.open({
      owner: kind,
      mode: {
        kind: 'forward',
        upstreams: {
          'openai-responses': openai,
          'openai-chat-completions': openai,
          'anthropic-messages': { baseUrl: url, key },
          'gemini-generate-content': { baseUrl: url, key },
        },
      },
    });
    await using session = await openAgent({ kind, lane });
    const { turn } = await session.turn('Say hello.', { timeoutMs: 120_000 });
    expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'exit' } });
    expect(lane.ledger.filter(({ flags }) => !flags.includes('auxiliary')).length).toBeLessThanOrEqual(3);
  });
});
