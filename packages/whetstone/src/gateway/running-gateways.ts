import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { cacheFolder } from '@whetstone/agents/cache-folder';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { removeTree } from '@whetstone/sandbox';
import { makeEach } from '@whetstone/sandbox/files';
import { z } from 'zod';
import { isLocked, takeAbandoned, takeLock } from '../record/lock-file.ts';

const stateSchema = z.object({
  version: z.literal(1),
  pid: z.number().int().positive(),
  startedAt: z.string(),
  mode: z.string(),
  /** Base URL of its lane, without a version segment. */
  baseUrl: z.string(),
  /** A key that opens only this lane. */
  key: z.string(),
});

/** A gateway that runs on this machine, as it describes itself. */
export type RunningGateway = z.infer<typeof stateSchema> & {
  /** Its own folder in the cache of the user, removed when the gateway ends. */
  folder: string;
};

const FILE = 'gateway.json';

/** The folder in which running gateways are found: a folder and a lock for each. */
const gatewaysFolder = (): string => join(cacheFolder(), 'gateways');

/**
 * Announces, only to this user, that this process runs a gateway. Disposing removes the announcement and the folder.
 * @throws WhetstoneError `gateway-state-unwritable`
 */
export async function announceGateway(gateway: Pick<RunningGateway, 'mode' | 'baseUrl' | 'key'>) {
  const folder = join(gatewaysFolder(), randomBytes(8).toString('hex'));
  const state = { version: 1, pid: process.pid, startedAt: new Date().toISOString(), ...gateway };
  try {
    makeEach(gatewaysFolder(), 0o700);
    const lock = await takeLock(lockOf(folder));
    if (!lock) throw new Error(`${lockOf(folder)} is locked`);
    await mkdir(folder, { mode: 0o700 });
    const unfinished = join(folder, `${FILE}.new`);
    await writeFile(unfinished, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
    await rename(unfinished, join(folder, FILE));
    return {
      folder,
      async [Symbol.asyncDispose]() {
        await removeTree(folder);
        lock.release();
      },
    };
  } catch (error) {
    const message = `The gateway cannot be announced to other commands: ${messageOf(error)}`;
    throw new WhetstoneError('gateway-state-unwritable', message, { where: folder, cause: error });
  }
}

/** Held by the gateway as long as it runs, wherever that is. */
const lockOf = (folder: string): string => `${folder}.lock`;

/** The running gateways, the oldest first. Removes what gateways that were killed left behind. */
export async function runningGateways(): Promise<RunningGateway[]> {
  const names = await readdir(gatewaysFolder()).catch(() => []);
  const found = await Promise.all(names.filter((name) => /^[0-9a-f]{16}$/.test(name)).map(readRunning));
  return found
    .filter((gateway) => gateway !== undefined)
    .sort((left, right) => left.startedAt.localeCompare(right.startedAt));
}

async function readRunning(name: string): Promise<RunningGateway | undefined> {
  const folder = join(gatewaysFolder(), name);
  const abandoned = takeAbandoned(lockOf(folder));
  if (abandoned) {
    await removeTree(folder);
    abandoned.release();
    return undefined;
  }
  const state = stateSchema.safeParse(await readJson(join(folder, FILE)));
  // It may run where this process cannot reach it, as in a container with the same home.
  if (!state.success || !isLocked(lockOf(folder)) || !(await listens(state.data.baseUrl))) return undefined;
  return { ...state.data, folder };
}

const CONNECT_LIMIT_MS = 2_000;

async function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_LIMIT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** `undefined` while the gateway is starting or ending. */
const readJson = async (file: string): Promise<unknown> =>
  parseJson(await readFile(file, 'utf8').catch(() => ''));

/**
 * The gateway that a user means: the one with this URL; without a URL, the only one that runs.
 * @throws WhetstoneError `gateway-not-running`, `gateway-ambiguous`
 */
export async function findRunningGateway(url?: string): Promise<RunningGateway> {
  const running = await runningGateways();
  const meant = running.filter(({ baseUrl }) => url === undefined || isAt(baseUrl, url));
  const [gateway, ...others] = meant;
  if (!gateway) {
    if (url === undefined) {
      const hint = 'Start one with "whetstone gateway --mode …", or name one with --gateway URL --key KEY.';
      throw new WhetstoneError('gateway-not-running', 'No gateway is running.', { hint });
    }
    throw new WhetstoneError('gateway-not-running', `No gateway of yours is running at ${url}.`, {
      hint: `Add its key with --key.${listed(running)}`,
    });
  }
  if (others.length > 0) {
    throw new WhetstoneError('gateway-ambiguous', `${meant.length} gateways are running.`, {
      hint: `Name one with --gateway URL.${listed(meant)}`,
    });
  }
  return gateway;
}

/** The URL may be that of the lane, with or without the path that an SDK adds, or only the address of the gateway. */
function isAt(baseUrl: string, url: string): boolean {
  const asked = url.replace(/\/+$/, '').replace(/\/v1$/, '');
  return asked === baseUrl || asked === new URL(baseUrl).origin;
}

const listed = (gateways: readonly RunningGateway[]): string =>
  gateways.map(({ baseUrl, mode, pid }) => `\n  ${baseUrl}  ${mode}, process ${pid}`).join('');
