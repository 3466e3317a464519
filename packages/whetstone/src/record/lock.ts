import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import { isAlive } from '@whetstone/sandbox/process';

/**
 * Takes the lock file of a run, which holds the process id of its owner. A lock whose process has ended is taken
 * over, so that a run that was killed can be resumed at once.
 */
export async function acquireLock(file: string): Promise<{ release(): Promise<void> }> {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const handle = await open(file, 'wx');
      await handle.writeFile(`${process.pid}\n`);
      await handle.close();
      return { release: () => rm(file, { force: true }) };
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      const owner = await readOwner(file);
      if (isAlive(owner)) {
        throw new WhetstoneError('run-locked', `Process ${owner} is working on this run.`, { where: file });
      }
      await rm(file, { force: true });
    }
  }
  throw new WhetstoneError('run-locked', 'Another process has just taken the lock of this run.', {
    where: file,
  });
}

/** The process id in a lock file; `NaN` where there is none. An empty file is being written at this moment. */
async function readOwner(file: string): Promise<number> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== '') return Number.parseInt(text ?? '', 10);
    await setTimeout(20);
  }
  return Number.NaN;
}
