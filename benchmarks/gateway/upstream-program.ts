/**
 * A fake model provider: it reads a request of the Anthropic Messages API to its end and streams a reply. Its argument is
 * a `Reply` as JSON. It sends its URL to its parent and ends with it.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { messagesPath } from './request.ts';

/** The time to the first event of a reply, its number of deltas, and the pause before each; times in milliseconds. */
export type Reply = { waitMs?: number; deltas: number; pauseMs: number };

const reply: Reply = JSON.parse(process.argv[2] ?? '');

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    if (request.method !== 'POST' || !request.url?.startsWith(messagesPath)) response.writeHead(404).end();
    else void stream(response);
  });
});
// Closing a connection just before it is used again would look like a failure of the client.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('disconnect', () => process.exit());

async function stream(response: ServerResponse): Promise<void> {
  if (reply.waitMs) await pause(reply.waitMs);
  const send = (event: { type: string; [field: string]: unknown }) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const usage = { input_tokens: 25_000, output_tokens: 1 };
  const message = {
    type: 'message',
    role: 'assistant',
    model: 'fake',
    content: [],
    stop_reason: null,
    usage,
  };
  send({ type: 'message_start', message: { id: `msg_${stamp()}`, ...message } });
  send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
  for (let count = 0; count < reply.deltas && !response.destroyed; count++) {
    if (reply.pauseMs > 0) await pause(reply.pauseMs);
    send({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: stamp() } });
  }
  send({ type: 'content_block_stop', index: 0 });
  send({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 2 * reply.deltas },
  });
  send({ type: 'message_stop' });
  response.end();
}

/** When the event was sent, in nanoseconds of the machine's monotonic clock, which all its processes share. */
const stamp = (): string => `@${process.hrtime.bigint()}@`;
