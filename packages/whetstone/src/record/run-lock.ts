import { messageOf, WhetstoneError } from '@whetstone/errors';
import { type LockFile, takeLock } from './lock-file.ts';

/**
 * Takes the lock of a run directory.
 * @throws WhetstoneError `run-locked`
 */
export async function lockRun(file: string): Promise<LockFile> {
  const lock = await takeLock(file).catch((error: unknown) => {
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
