import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive, removeTree } from '@whetstone/sandbox';

/** A run's temporary folder, removed at the end. The name holds the owner's process id, for `sweepScratch`. */
export async function makeScratch(): Promise<{ directory: string } & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), `whetstone-${process.pid}-`));
  return {
    directory,
    [Symbol.asyncDispose]: () => removeTree(directory),
  };
}

/** Removes what runs that were killed left behind. Never fails: what cannot be removed is another user's. */
export async function sweepScratch(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [] as string[]);
  for (const name of names) {
    const pid = Number(/^whetstone-(\d+)-\w+$/.exec(name)?.[1]);
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    await removeTree(join(tmpdir(), name)).catch(() => undefined);
  }
}
