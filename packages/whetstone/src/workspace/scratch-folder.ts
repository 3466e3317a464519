import { mkdir, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placesReadAbove } from '@whetstone/agents/config';
import { foundAbove } from '@whetstone/agents/evaluator';
import { removeTree } from '@whetstone/sandbox';
import { BRIEF_PREFIX, isLeftBehind } from '@whetstone/sandbox/files';
import { takeAbandoned, takeLock } from '../record/lock-file.ts';
import { namingFullDisk } from './disk-full.ts';
import { mountPrivately } from './mount-namespace.ts';
import { lockedName, nameOfLock } from './temporary-name.ts';

/** The temporary folder of a run, removed when disposed. */
export type Scratch = AsyncDisposable & {
  directory: string;
  /** Nothing that agents read is in the folders above `directory`, and no case can write there. */
  isPrivate: boolean;
  /** Other processes of the machine see it at the same path. */
  isShared: boolean;
};

/**
 * Makes the folder, and a lock beside it for as long as this process has it, for `sweepScratch`. `isShared`: for an agent
 * that works on a server of the user, which has to see the workspaces. Default: false.
 */
export async function makeScratch({ isShared = false } = {}): Promise<Scratch> {
  const { directory, remove } = await namingFullDisk(tmpdir(), makeLocked);
  if (isShared) return { directory, isPrivate: false, isShared, [Symbol.asyncDispose]: remove };
  const unwanted = foundAbove('/', placesReadAbove()).map((path) => `/${path.split('/')[1]}`);
  const mounted = await mountPrivately(directory, unwanted);
  return {
    directory: mounted?.path ?? directory,
    isPrivate: mounted !== undefined,
    isShared,
    async [Symbol.asyncDispose]() {
      await mounted?.unmount();
      await remove();
    },
  };
}

/** The lock is there before the folder and until after it, so a folder without its lock is never swept. */
async function makeLocked(): Promise<{ directory: string; remove: () => Promise<void> }> {
  const directory = join(tmpdir(), lockedName());
  const lock = await takeLock(`${directory}.lock`);
  // Another process that sweeps can have looked at it in this moment, again and again.
  if (!lock) return makeLocked();
  await mkdir(directory, { mode: 0o700 });
  return {
    directory,
    async remove() {
      await removeTree(directory);
      lock.release();
    },
  };
}

const A_DAY_MS = 24 * 3_600_000;

/**
 * Removes the folders of runs that were killed, whatever machine, container or PID namespace they ran in, but none of
 * another user. Never rejects.
 */
export async function sweepScratch(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [] as string[]);
  for (const name of names) await sweep(name).catch(() => undefined);
}

async function sweep(name: string): Promise<void> {
  const path = join(tmpdir(), name);
  if (name.startsWith(BRIEF_PREFIX)) {
    const isOld = (await stat(path)).mtimeMs < Date.now() - A_DAY_MS;
    if (isLeftBehind(name) ?? isOld) await removeTree(path);
    return;
  }
  const folder = nameOfLock(name);
  const lock = folder === undefined ? undefined : takeAbandoned(path);
  if (folder === undefined || !lock) return;
  await removeTree(join(tmpdir(), folder));
  lock.release();
}
