import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type WireRequest = { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown> };

/** What the server answers: an HTTP error, or server-sent events. */
export type WireAnswer =
  | { status: number; headers?: Record<string, string>; body: unknown }
  | { events: unknown[] };

/** A provider's HTTP server for a test: plays its answers in order and keeps what it was asked. */
export async function startModelServer(answers: readonly WireAnswer[]) {
  const requests: WireRequest[] = [];
  const server = createServer(async (request, response) => {
    const answer = answers[requests.length] ?? {
      status: 500,
      body: { error: { message: 'the script is over' } },
    };
    const body = JSON.parse(await text(request));
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    if ('status' in answer) {
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      response.end(JSON.stringify(answer.body));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of answer.events) {
      const { type } = event as { type: string };
      response.write(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
