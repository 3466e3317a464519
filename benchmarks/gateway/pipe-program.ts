/**
 * The least that a proxy in Node.js can do: it passes the bytes of a call on in both directions, and looks at none of
 * them. Its argument is the URL of the provider as JSON. It sends its own to its parent and ends with it.
 */
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const upstream: string = JSON.parse(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true });

const server = createServer((asked, answer) => {
  const { method, headers } = asked;
  const sent = request(upstream + asked.url, { method, headers, agent }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  asked.pipe(sent);
});
// Closing a connection just before it is used again would look like a failure of the client.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('disconnect', () => process.exit());
