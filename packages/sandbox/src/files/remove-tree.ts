import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';

/** Removes a folder with anything in it, locked or too deep to name. Follows no link. It may be missing already. */
export async function removeTree(path: string | Buffer): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (process.platform === 'win32') throw error;
    // These programs walk by file descriptors and are not bound to the longest path. Neither follows a symbolic link
    // below the folder that it is given.
    await runOn(path, ['chmod', '-R', 'u+rwX', '--']);
    if ((await runOn(path, ['rm', '-rf', '--'])) !== 0) throw error;
  }
}

export async function removeTrees(paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => removeTree(path)));
}

/** The exit code of a command with this path as last argument, through `xargs`: arguments in Node cannot be bytes. */
async function runOn(path: string | Buffer, command: readonly string[]): Promise<number | null> {
  const child = spawn('xargs', ['-0', ...command], { stdio: ['pipe', 'ignore', 'ignore'] });
  const exited = once(child, 'exit');
  child.stdin.on('error', () => {});
  child.stdin.end(Buffer.concat([Buffer.from(path), Buffer.from('\0')]));
  const [code] = await exited.catch(() => [null]);
  return code;
}
