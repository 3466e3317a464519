import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '@whetstone/sandbox';
import { isAlive } from '@whetstone/sandbox/process';

/** The temporary folder of a run, removed when disposed. Its name has the process id, for `sweepScratch`. */
export async function makeScratch(): Promise<{ directory: string } & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), `whetstone-${process.pid}-`));
  return {
    directory,
    [Symbol.asyncDispose]: () => removeTree(directory),
  };
}

/** Removes the folders of runs that were killed, except those of other users. Never rejects. */
export async function sweepScratch(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [] as string[]);
  for (const name of names) {
    const pid = Number(/^whetstone-(\d+)-\w+$/.exec(name)?.[1]);
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    await removeTree(join(tmpdir(), name)).catch(() => undefined);
  }
}
