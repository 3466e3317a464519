import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import type { Mask, Sandbox } from '@whetstone/sandbox';
import type { ServiceConfig } from '../config/config.ts';

/** A service with the free port that it gets in one sandbox. */
export type PlacedService = ServiceConfig & { port: number };

/**
 * Below the ports that Linux, macOS and Windows give out by themselves: nobody who asks for any free port takes one
 * between its choice and the start of the service.
 */
const PORTS = { first: 15_000, count: 15_000 };
const TRIES = 100;

/** Chooses a free port of 127.0.0.1 for each service. */
export async function placeServices(services: readonly ServiceConfig[]): Promise<PlacedService[]> {
  // All are held until each has one, so that no two get the same.
  const held: Server[] = [];
  try {
    const placed: PlacedService[] = [];
    for (const service of services) {
      const server = await holdFreePort();
      held.push(server);
      placed.push({ ...service, port: (server.address() as AddressInfo).port });
    }
    return placed;
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

async function holdFreePort(): Promise<Server> {
  for (let tries = 1; ; tries += 1) {
    const server = createServer().listen(PORTS.first + randomInt(PORTS.count), '127.0.0.1');
    try {
      await once(server, 'listening');
      return server;
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE' || tries === TRIES) throw error;
    }
  }
}

/** `REDIS_HOST` and `REDIS_PORT` for a service named `redis`, for every command of the sandbox. */
export const serviceVariables = (services: readonly PlacedService[]): Record<string, string> =>
  Object.fromEntries(
    services.flatMap(({ name, port }) => {
      const variable = name.toUpperCase().replaceAll(/\W/g, '_');
      return [
        [`${variable}_HOST`, '127.0.0.1'],
        [`${variable}_PORT`, String(port)],
      ];
    }),
  );

/**
 * Starts services in a sandbox, in its home, so that they write nothing into the workspace. They end with the sandbox.
 * Resolves when all are ready.
 * @throws WhetstoneError `service-not-ready`
 */
export async function startServices(
  sandbox: Sandbox,
  services: readonly PlacedService[],
  options: { directory: string; mask: Mask; signal: AbortSignal },
): Promise<void> {
  const { directory, mask, signal } = options;
  if (services.length > 0) mkdirSync(directory, { recursive: true });
  await Promise.all(
    services.map(async (service) => {
      const { name, command, port } = service;
      const log = (stream: string) => join(directory, `${name}.${stream}.log`);
      const running = sandbox.runShell(command.replaceAll('{port}', String(port)), {
        ...{ cwd: sandbox.home, mask, signal },
        stdoutFile: log('stdout'),
        stderrFile: log('stderr'),
      });
      let end: { exitCode: number | null } | undefined;
      void running
        .catch(() => ({ exitCode: null }))
        .then((result) => {
          end = result;
        });
      await untilReady(service, () => end, { accepts: listensIn(sandbox), signal });
    }),
  );
}

const READY_SECONDS = 60;

async function untilReady(
  { name, port, ready }: PlacedService,
  ended: () => { exitCode: number | null } | undefined,
  { accepts, signal }: { accepts: (port: number) => Promise<boolean>; signal: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + READY_SECONDS * 1000;
  for (;;) {
    const end = ended();
    if (end) throw notReady(name, `ended with exit code ${end.exitCode ?? 'unknown'} before it was ready`);
    if (ready === 'none' || (await accepts(port))) return;
    if (performance.now() > deadline) throw notReady(name, `did not open port ${port} in ${READY_SECONDS} s`);
    await delay(25, undefined, { signal });
  }
}

/** Whether something listens at a port of the sandbox, which may have a network of its own. */
const listensIn = (sandbox: Sandbox): ((port: number) => Promise<boolean>) =>
  sandbox.folders === undefined ? accepts : (port) => isListedIn(sandbox, port);

/** Nothing outside can connect. The kernel's list has a line for each socket: `0: 0100007F:1F90 00000000:0000 0A …`. */
async function isListedIn(sandbox: Sandbox, port: number): Promise<boolean> {
  const { stdout } = await sandbox.runCommand('cat', ['/proc/net/tcp', '/proc/net/tcp6']);
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = stdout.split('\n').map((line) => line.trim().split(/\s+/));
  return sockets.some(([, local = '', , state]) => local.endsWith(wanted) && state === '0A');
}

/** How long a service may keep the connection that asked whether it is ready. */
const GOODBYE_MS = 1000;

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } catch {
    socket.destroy();
    return false;
  }
  // Read to its end: a service that greets at once would find the connection reset, which ends careless programs.
  socket.on('error', () => {}).setTimeout(GOODBYE_MS, () => socket.destroy());
  socket.unref().resume().end();
  return true;
}

const notReady = (name: string, what: string): WhetstoneError =>
  new WhetstoneError('service-not-ready', `The service ${name} ${what}; its logs are with the case.`, {
    where: `environment.services.${name}`,
  });
