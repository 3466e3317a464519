import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that leads nowhere. `asked`: to which hosts a program wanted to go through it. */
export async function startProxy(): Promise<{ url: string; asked: Set<string> } & Disposable> {
  const asked = new Set<string>();
  const server = createServer((_, response) => response.writeHead(403).end());
  server.on('connect', ({ url = '' }, socket) => {
    asked.add(url);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
