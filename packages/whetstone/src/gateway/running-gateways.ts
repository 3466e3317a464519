import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { cacheFolder } from '@whetstone/agents/install';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { isAlive, removeTree } from '@whetstone/sandbox';
import { z } from 'zod';

const stateSchema = z.object({
  version: z.literal(1),
  pid: z.number().int().positive(),
  startedAt: z.string(),
  mode: z.string(),
  /** Of its lane, without a version segment. */
  baseUrl: z.string(),
  /** Opens the lane, and nothing else. */
  key: z.string(),
});

/** A gateway that runs on this machine, as it says itself. */
export type RunningGateway = z.infer<typeof stateSchema> & {
  /** Its own folder in the user's cache; goes when the gateway ends. */
  folder: string;
};

const FILE = 'gateway.json';

/** Where running gateways are found: a folder for each, named after its process. */
const gatewaysFolder = (): string => join(cacheFolder(), 'gateways');

/**
 * Says that this process runs a gateway, to this user alone. Disposing takes it back, and the gateway's folder with it.
 * @throws WhetstoneError `gateway-state-unwritable`
 */
export async function announceGateway(
  gateway: Pick<RunningGateway, 'mode' | 'baseUrl' | 'key'>,
): Promise<{ folder: string } & AsyncDisposable> {
  const folder = join(gatewaysFolder(), String(process.pid));
  const state = { version: 1, pid: process.pid, startedAt: new Date().toISOString(), ...gateway };
  try {
    await removeTree(folder); // of an earlier process with this id
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const unfinished = join(folder, `${FILE}.new`);
    await writeFile(unfinished, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
    await rename(unfinished, join(folder, FILE));
  } catch (error) {
    throw new WhetstoneError(
      'gateway-state-unwritable',
      `The gateway cannot be announced: ${messageOf(error)}`,
      {
        where: folder,
        hint: 'Set XDG_CACHE_HOME to a folder that you may write.',
        cause: error,
      },
    );
  }
  return { folder, [Symbol.asyncDispose]: () => removeTree(folder) };
}

/** The gateways that run, the oldest first. What ended without taking leave is removed. */
export async function runningGateways(): Promise<RunningGateway[]> {
  const names = await readdir(gatewaysFolder()).catch(() => []);
  const found = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readRunning));
  return found
    .filter((gateway) => gateway !== undefined)
    .sort((left, right) => left.startedAt.localeCompare(right.startedAt));
}

async function readRunning(pid: string): Promise<RunningGateway | undefined> {
  const folder = join(gatewaysFolder(), pid);
  const state = stateSchema.safeParse(await readJson(join(folder, FILE)));
  // The id may have gone to another process since.
  const runs = isAlive(Number(pid)) && (!state.success || (await listens(state.data.baseUrl)));
  if (!runs) await removeTree(folder);
  return runs && state.success ? { ...state.data, folder } : undefined;
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

const readJson = async (file: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined; // it starts or ends at this moment
  }
};

/**
 * The gateway that a user means: the only one that runs, or the one of a URL.
 * @throws WhetstoneError `gateway-not-running`, `gateway-ambiguous`
 */
export async function findRunningGateway(url?: string): Promise<RunningGateway> {
  const running = await runningGateways();
  const meant = running.filter(({ baseUrl }) => url === undefined || isAt(baseUrl, url));
  const [gateway, ...others] = meant;
  if (!gateway) {
    throw new WhetstoneError(
      'gateway-not-running',
      url === undefined ? 'No gateway runs.' : `No gateway of yours runs at ${url}.`,
      {
        hint:
          url === undefined
            ? 'Start one with "whetstone gateway --mode …", or name one with --gateway URL --key KEY.'
            : `Give its key with --key.${listed(running)}`,
      },
    );
  }
  if (others.length > 0) {
    throw new WhetstoneError('gateway-ambiguous', `${meant.length} gateways run.`, {
      hint: `Name one with --gateway URL.${listed(meant)}`,
    });
  }
  return gateway;
}

/** A user may give the lane's base URL, with or without what an SDK adds, or the gateway's address alone. */
function isAt(baseUrl: string, url: string): boolean {
  const asked = url.replace(/\/+$/, '').replace(/\/v1$/, '');
  return asked === baseUrl || asked === new URL(baseUrl).origin;
}

const listed = (gateways: readonly RunningGateway[]): string =>
  gateways.map(({ baseUrl, mode, pid }) => `\n  ${baseUrl}  ${mode}, process ${pid}`).join('');
