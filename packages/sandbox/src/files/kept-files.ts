import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import { isUnder, resolveUnder } from './sandbox-files.ts';

// What a command has kept is read by the host, from outside: a program of the sandbox, such as `find` or `cat`, could be
// one that the command has put there.

/**
 * The paths of all regular files below a folder of `root`, sorted by folder. Links are not followed. A folder that is not
 * there has none; one that leads out of `root` is an error.
 */
export async function* filesBelow(root: string, folder: string): AsyncGenerator<string, void, undefined> {
  const folders = [await resolveUnder(root, folder)];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = await readdir(at, { withFileTypes: true }).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(String(codeOf(error)))) return [];
      throw error;
    });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      if (entry.isDirectory()) folders.push(join(at, entry.name));
      else if (entry.isFile()) yield join(at, entry.name);
    }
  }
}

/** How much is read at once. */
const CHUNK_BYTES = 256 * 1024;

/**
 * The bytes of a regular file below `root`, from `start` on and of any number. A link, and a file that leads out of `root`
 * because somebody moved a folder meanwhile, is an error.
 */
export async function* readKeptFile(
  root: string,
  file: string,
  { start = 0, signal }: { start?: number; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Buffer, void, undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await assertInside(root, handle, file);
    for (let position = start; ; ) {
      signal?.throwIfAborted();
      const { buffer, bytesRead } = await handle.read(
        Buffer.allocUnsafe(CHUNK_BYTES),
        0,
        CHUNK_BYTES,
        position,
      );
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      position += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

async function assertInside(root: string, handle: FileHandle, file: string): Promise<void> {
  const place = process.platform === 'linux' ? await readlink(`/proc/self/fd/${handle.fd}`) : file;
  if (!isUnder(await realpath(root), place)) {
    throw new WhetstoneError('sandbox-path-outside', 'The path leads out of the folder that it belongs to.', {
      where: file,
    });
  }
  if ((await handle.stat()).isFile()) return;
  throw new WhetstoneError('sandbox-file-irregular', 'The path is not a regular file.', { where: file });
}
