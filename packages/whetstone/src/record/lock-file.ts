import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { codeOf } from '@whetstone/errors';
import { type Lease, tryLease } from './lease.ts';

/** A lock that one process holds, by its file. `release` removes the file, and may be called again. */
export type LockFile = { release(): void };

const ATTEMPTS = 5;

/**
 * Takes the lock of a file that exists while somebody holds it; `undefined` if another process has it. It ends with its
 * process, whatever ends that, and also holds against processes that cannot see each other, as in two containers with one
 * folder. Throws what the file system says where the file cannot be a lock.
 */
export async function takeLock(file: string): Promise<LockFile | undefined> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const lock = takeOnce(file);
    if (lock) return lock;
    // Who looks whether a lock is held has it for a moment.
    if (attempt < ATTEMPTS) await setTimeout(20);
  }
  return undefined;
}

/** Takes the lock of a file that is there, if nobody holds it: then what it protected was left behind. */
export function takeAbandoned(file: string): LockFile | undefined {
  if (fileNumber(file) === undefined) return undefined;
  try {
    return takeOnce(file);
  } catch {
    // Of another user.
    return undefined;
  }
}

/** Whether somebody holds the lock of a file. Leaves no file behind. */
export function isLocked(file: string): boolean {
  if (fileNumber(file) === undefined) return false;
  try {
    using lease = tryLease(file, 'shared');
    return lease === undefined;
  } catch {
    return false;
  }
}

function takeOnce(file: string): LockFile | undefined {
  const before = fileNumber(file) ?? make(file);
  const lease = tryLease(file, 'exclusive');
  // Who had the lock removes the file. Then this is the lock of a file that no longer has the name.
  if (lease && before !== undefined && fileNumber(file) === before) return heldBy(file, lease);
  lease?.[Symbol.dispose]();
  return undefined;
}

/** Not a file that is there: to close it would end a lock that this process has on it. */
function make(file: string): number | undefined {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  return fileNumber(file);
}

/** After the first release the file can be that of another process. */
function heldBy(file: string, lease: Lease): LockFile {
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      rmSync(file, { force: true });
      lease[Symbol.dispose]();
    },
  };
}

const fileNumber = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;
