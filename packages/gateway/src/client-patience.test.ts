import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { nextCall } from './__fixtures__/clients.ts';
import { keyInFile, startProvider, upstreamsAt } from './__fixtures__/provider.ts';
import { createGateway, type Lane, scriptFromSteps } from './index.ts';

const script = scriptFromSteps('s', [{ text: 'ok' }]);

/** A connection to a lane's gateway, for a misbehaving client. */
async function connectTo(lane: Lane): Promise<Socket> {
  const { hostname, port } = new URL(lane.baseUrl);
  const socket = connect(Number(port), hostname);
  // It may be reset while the client still writes.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

const requestHead = (lane: Lane, length: number): string =>
  [
    `POST ${new URL(lane.baseUrl).pathname}/v1/messages HTTP/1.1`,
    'host: localhost',
    `x-api-key: ${lane.key}`,
    `content-length: ${length}`,
    '',
    '',
  ].join('\r\n');

/** Sends byte after byte until the other side answers, and returns the answer. */
async function trickle(socket: Socket, bytes: string): Promise<string> {
  const answer: Buffer[] = [];
  socket.on('data', (chunk) => answer.push(chunk));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const byte of bytes) {
    if (socket.destroyed || socket.readableEnded || answer.length > 0) break;
    socket.write(byte);
    await delay(10);
  }
  await closed;
  return Buffer.concat(answer).toString();
}

test('a body that arrives byte by byte gets 408 in time, its connection ends, and the ledger says why', async () => {
  await using gateway = await createGateway({ requestTimeoutMs: 150 });
  const { onCall, line } = nextCall();
  await using lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script }, onCall });
  const socket = await connectTo(lane);
  socket.write(requestHead(lane, 1000));
  const answer = await trickle(socket, 'x'.repeat(1000));
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toContain('{"type":"error"');
  expect(await line).toMatchObject({
    status: 408,
    error: 'The request took too long to arrive.',
    usage: null,
  });
});

test('a head that arrives byte by byte also gets 408', async () => {
  await using gateway = await createGateway({ requestTimeoutMs: 150 });
  await using lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script } });
  const answer = await trickle(await connectTo(lane), `${requestHead(lane, 0).trimEnd()}${'x'.repeat(1000)}`);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});

test('a client that never reads takes little memory, and its call ends', async () => {
  let produced = 0;
  let providerClosed = false;
  await using provider = await startProvider(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    void closed.then(() => {
      providerClosed = true;
    });
    const event = `data: ${'x'.repeat(64 * 1024)}\n\n`;
    while (!providerClosed) {
      produced += event.length;
      if (!response.write(event))
        await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed]);
    }
  });
  await using gateway = await createGateway({ unreadTimeoutMs: 200 });
  const { onCall, line } = nextCall();
  await using lane = await gateway.open({
    owner: 'a',
    mode: { kind: 'forward', upstreams: upstreamsAt(provider.url, keyInFile('key')) },
    onCall,
  });
  const socket = await connectTo(lane);
  socket.pause();
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'go' }] });
  socket.write(requestHead(lane, Buffer.byteLength(body)) + body);
  const ended = await line;
  expect(ended).toMatchObject({
    status: 200,
    outcome: 'error',
    error: 'The client did not read its answer.',
  });
  // As much as the buffers of two connections, and not as much as an endless stream could fill in that time.
  expect(produced).toBeLessThan(32 * 1024 * 1024);
  const deadline = performance.now() + 5000;
  while (!providerClosed && performance.now() < deadline) await delay(5);
  expect(providerClosed).toBe(true);
  socket.destroy();
});

test('a silent provider is not mistaken for a client that does not read', async () => {
  await using provider = await startProvider(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"n":1}\n\n');
    await delay(200);
    response.end('data: {"n":2}\n\ndata: {"type":"message_stop"}\n\n');
  });
  await using gateway = await createGateway({ unreadTimeoutMs: 60 });
  await using lane = await gateway.open({
    owner: 'a',
    mode: { kind: 'forward', upstreams: upstreamsAt(provider.url, keyInFile('key')) },
  });
  const response = await fetch(`${lane.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': lane.key },
    body: '{"stream":true}',
  });
  expect(await response.text()).toContain('{"n":2}');
  expect(lane.ledger).toMatchObject([{ outcome: 'ok' }]);
});
