import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import type { Mask, Sandbox } from '@whetstone/sandbox';
import type { ServiceConfig } from '../config/config.ts';
import { tellingLine } from './run-commands.ts';

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

/** Services that were started in a sandbox. They end with it. */
export type RunningServices = {
  /**
   * A sentence about the first service that works no more, with the most telling line of its output; `undefined`: all
   * work. A service without `ready: tcp` may end by itself with exit code 0.
   */
  ended(): Promise<string | undefined>;
};

/**
 * Starts services in a sandbox, in its home, so that they write nothing into the workspace. Resolves when all are ready.
 * @throws WhetstoneError `service-not-ready`
 */
export async function startServices(
  sandbox: Sandbox,
  services: readonly PlacedService[],
  options: ServiceOptions,
): Promise<RunningServices> {
  const { directory, mask, signal } = options;
  if (services.length > 0) mkdirSync(directory, { recursive: true });
  const accepts = listensIn(sandbox);
  const running = services.map((service): Running => {
    const { name, command, port } = service;
    const log = (stream: string) => join(directory, `${name}.${stream}.log`);
    const ending = sandbox
      .runShell(command.replaceAll('{port}', String(port)), {
        ...{ cwd: sandbox.home, mask, signal },
        stdoutFile: log('stdout'),
        stderrFile: log('stderr'),
      })
      .then(
        (result): End => ({ exitCode: result.exitCode, line: tellingLine(result) }),
        (): End => ({ exitCode: null, line: '' }),
      );
    const one: Running = { service, ending };
    void ending.then((end) => {
      one.end = end;
    });
    return one;
  });
  await Promise.all(running.map((one) => untilReady(one, accepts, options)));
  return {
    async ended() {
      const ends = await Promise.all(running.map((one) => endAfterReady(one, accepts, options)));
      return ends.find((sentence) => sentence !== undefined);
    },
  };
}

type ServiceOptions = {
  /** Where the logs go. */
  directory: string;
  /** That folder as messages name it. `undefined`: nobody can read the logs later, so no message names them. */
  shown: string | undefined;
  mask: Mask;
  signal: AbortSignal;
};

/** `line`: the most telling one of its output, in parentheses after a space. */
type End = { exitCode: number | null; line: string };
type Running = { service: PlacedService; ending: Promise<End>; end?: End };
type Accepts = (port: number) => Promise<boolean>;

const READY_SECONDS = 60;

async function untilReady(running: Running, accepts: Accepts, options: ServiceOptions): Promise<void> {
  const { name, port, ready } = running.service;
  const deadline = performance.now() + READY_SECONDS * 1000;
  for (;;) {
    if (running.end) throw notReady(name, `${describeEnd(running.end)} before it was ready`, options);
    if (ready === 'none' || (await accepts(port))) return;
    if (performance.now() > deadline)
      throw notReady(name, `did not open port ${port} in ${READY_SECONDS} s`, options);
    await delay(25, undefined, { signal: options.signal });
  }
}

/** How long to wait for the exit code of a service whose port is closed. */
const LAST_WORDS_MS = 1000;

async function endAfterReady(
  running: Running,
  accepts: Accepts,
  options: ServiceOptions,
): Promise<string | undefined> {
  const { name, port, ready } = running.service;
  // A command that leaves a server behind has ended, too. So the port says whether the service works.
  const works = ready === 'none' ? (running.end?.exitCode ?? 0) === 0 : await accepts(port);
  if (works) return undefined;
  const end = running.end ?? (await Promise.race([running.ending, delay(LAST_WORDS_MS, undefined)]));
  const what = end ? describeEnd(end) : `closed port ${port}`;
  return `The service ${name} ${what} after it was ready${logsOf(name, options)}.`;
}

const describeEnd = ({ exitCode, line }: End): string =>
  `ended with exit code ${exitCode ?? 'unknown'}${line}`;

/** Whether something listens at a port of the sandbox, which may have a network of its own. */
const listensIn = (sandbox: Sandbox): Accepts =>
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

const notReady = (name: string, what: string, options: ServiceOptions): WhetstoneError =>
  new WhetstoneError('service-not-ready', `The service ${name} ${what}${logsOf(name, options)}.`, {
    where: `environment.services.${name}`,
  });

const logsOf = (name: string, { shown }: ServiceOptions): string =>
  shown === undefined ? '' : `; its logs are ${shown}/${name}.stdout.log and ${shown}/${name}.stderr.log`;
