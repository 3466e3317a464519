import { rm } from 'node:fs/promises';
import { execa } from 'execa';

/**
 * Removes a folder whatever is in it: folders that the agent locked, trees deeper than a path can name. Never follows
 * a symlink; nothing to remove is fine.
 */
export async function removeTree(path: string | Buffer): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (process.platform === 'win32') throw error;
    // The programs walk by file descriptors and are not bound to the longest path; neither follows a symlink below
    // the one it is given, which is a folder here. `xargs` because an argument in Node cannot be bytes.
    const input = Buffer.concat([Buffer.from(path), Buffer.from('\0')]);
    await execa('xargs', ['-0', 'chmod', '-R', 'u+rwX', '--'], { input, reject: false, stderr: 'ignore' });
    const removed = await execa('xargs', ['-0', 'rm', '-rf', '--'], {
      input,
      reject: false,
      stderr: 'ignore',
    });
    if (removed.failed) throw error;
  }
}

/** `removeTree` of several at once. */
export async function removeTrees(paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => removeTree(path)));
}
