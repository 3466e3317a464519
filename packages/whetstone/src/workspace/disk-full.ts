import { codeOf, WhetstoneError } from '@whetstone/errors';

const SQLITE_FULL = 13;

/** Runs `work` and turns the error of a full disk, also in a cause or in the output of a program, into `disk-full`. */
export async function namingFullDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new WhetstoneError('disk-full', 'No space is left for workspaces.', {
      where: folder,
      hint: 'Free some space, or choose another folder with TMPDIR.',
      cause: error,
    });
  }
}

function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')) return true;
  // A lock is a database.
  if ('errcode' in error && error.errcode === SQLITE_FULL) return true;
  const said = [error.message, 'stderr' in error ? String(error.stderr) : ''].join('\n');
  return /no space left on device|disk quota exceeded/i.test(said) || isDiskFull(error.cause);
}
