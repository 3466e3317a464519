import { messageOf, WhetstoneError } from '@whetstone/errors';
import { type LockFile, takeLock } from './lock-file.ts';

/**
 * Takes the lock of a run directory.
 * @throws WhetstoneError `run-locked`, and an error of the system where the lock cannot be made.
 */
export async function lockRun(file: string): Promise<LockFile> {
  const lock = await takeLock(file).catch((error: unknown) => {
    // Where the folder cannot be written, no process holds anything.
    if (error instanceof Error && 'syscall' in error) throw error;
    throw lockedBy(`The lock of this run cannot be taken: ${messageOf(error)}.`, file);
  });
  if (!lock) throw lockedBy('Another process works on this run.', file);
  return lock;
}

const lockedBy = (message: string, file: string): WhetstoneError =>
  new WhetstoneError('run-locked', message, {
    where: file,
    hint: 'Wait for the run, or stop it. A lock ends with its process; if no process of any machine uses the folder, remove the file.',
  });
