import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placesReadAbove } from '@whetstone/agents/config';
import { foundAbove } from '@whetstone/agents/evaluator';
import { removeTree } from '@whetstone/sandbox';
import { mountPrivately } from './mount-namespace.ts';
import { isLeftBehind, temporaryPrefix } from './temporary-name.ts';

/** The temporary folder of a run, removed when disposed. */
export type Scratch = AsyncDisposable & {
  directory: string;
  /** Nothing that agents read is in the folders above `directory`, and no case can write there. */
  isPrivate: boolean;
  /** Other processes of the machine see it at the same path. */
  isShared: boolean;
};

/**
 * Makes the folder. Its name says who made it, for `sweepScratch`. `isShared`: for an agent that works on a server of the
 * user, which has to see the workspaces. Default: false.
 */
export async function makeScratch({ isShared = false } = {}): Promise<Scratch> {
  const directory = await mkdtemp(join(tmpdir(), temporaryPrefix()));
  if (isShared) {
    return { directory, isPrivate: false, isShared, [Symbol.asyncDispose]: () => removeTree(directory) };
  }
  const unwanted = foundAbove('/', placesReadAbove()).map((path) => `/${path.split('/')[1]}`);
  const mounted = await mountPrivately(directory, unwanted);
  return {
    directory: mounted?.path ?? directory,
    isPrivate: mounted !== undefined,
    isShared,
    async [Symbol.asyncDispose]() {
      await mounted?.unmount();
      await removeTree(directory);
    },
  };
}

/** Removes the folders of runs that were killed, except those of other users and of other PID namespaces. Never rejects. */
export async function sweepScratch(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [] as string[]);
  for (const name of names) {
    if (isLeftBehind(name)) await removeTree(join(tmpdir(), name)).catch(() => undefined);
  }
}
