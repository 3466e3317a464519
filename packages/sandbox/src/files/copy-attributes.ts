import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const DEADLINE_MS = 5_000;

/**
 * Makes `to` an empty file with the owner, the permissions and the extended attributes of the regular file `from`, so
 * that it can be filled and renamed over it. Resolves to `false` where it would not be the same to others: `from` has
 * several names (hard links), this user may not keep its owner or an attribute, or the system has no `cp` of GNU, as
 * on macOS. There may be a file at `to` then.
 */
export async function copyAttributes(from: string, to: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const source = await stat(from);
  if (!source.isFile() || source.nlink !== 1) return false;
  // Node cannot read extended attributes.
  const args = ['--attributes-only', '--preserve=mode,ownership,xattr', '--no-clobber', '--', from, to];
  try {
    await run('cp', args, { timeout: DEADLINE_MS });
    const copy = await stat(to);
    return (['uid', 'gid', 'mode', 'dev'] as const).every((key) => copy[key] === source[key]);
  } catch {
    return false;
  }
}
