import { once } from 'node:events';
import type { Server } from 'node:http';
import { WhetstoneError } from '@whetstone/errors';

/** Resolves when the server listens. @throws WhetstoneError `view-port-unavailable` */
export async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    const message = `Port ${port} of ${host} cannot be used (${code}).`;
    throw new WhetstoneError('view-port-unavailable', message, { cause: error });
  }
}
