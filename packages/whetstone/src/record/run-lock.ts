import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { type Lease, tryLease } from './lease.ts';

const ATTEMPTS = 5;

/**
 * Takes the lock of a run directory. It ends with its process, whatever ends that, and also holds against processes that
 * cannot see each other, as in two containers with one folder.
 * @throws WhetstoneError `run-locked`
 */
export async function lockRun(file: string): Promise<{ release(): void }> {
  for (let attempt = 1; ; attempt++) {
    closeSync(openSync(file, 'a'));
    const before = fileNumber(file);
    const lease = tryLock(file);
    // Who had the lock removes the file. Then this is the lock of a file that no longer has the name.
    if (lease && before !== undefined && fileNumber(file) === before)
      return { release: releaseOnce(file, lease) };
    lease?.[Symbol.dispose]();
    // Who looks whether a run is locked holds its lock for a moment.
    if (attempt === ATTEMPTS) throw lockedBy('Another process works on this run.', file);
    await setTimeout(20);
  }
}

/** Whether somebody holds the lock of a run. Leaves no file behind. */
export function isLocked(file: string): boolean {
  if (fileNumber(file) === undefined) return false;
  try {
    using lease = tryLease(file, 'shared');
    return lease === undefined;
  } catch {
    return false;
  }
}

function tryLock(file: string): Lease | undefined {
  try {
    return tryLease(file, 'exclusive');
  } catch (error) {
    throw lockedBy(`The lock of this run cannot be taken: ${messageOf(error)}.`, file);
  }
}

/** May be called again: then the file can be that of another process. */
function releaseOnce(file: string, lease: Lease): () => void {
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    rmSync(file, { force: true });
    lease[Symbol.dispose]();
  };
}

const lockedBy = (message: string, file: string): WhetstoneError =>
  new WhetstoneError('run-locked', message, {
    where: file,
    hint: 'Wait for the run, or stop it. A lock ends with its process; if no process of any machine uses the folder, remove the file.',
  });

const fileNumber = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;
