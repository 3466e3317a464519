import { constants } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';

/**
 * The bytes of a regular file from `offset` on: `length` of them, fewer only at its end. Never waits for a pipe. With `root`,
 * a file that is not in it is an error, even if somebody puts a link on the way meanwhile (Linux).
 */
export async function readRange(
  file: string,
  offset: number,
  length: number,
  root?: string,
): Promise<Uint8Array> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (root !== undefined && process.platform === 'linux') {
      const place = await readlink(`/proc/self/fd/${handle.fd}`);
      if (!place.startsWith(`${await realpath(root)}/`)) throw new Error(`${file} leads out of ${root}`);
    }
    const entry = await handle.stat();
    // A folder fails below, with the code that callers know (`EISDIR`).
    if (!entry.isFile() && !entry.isDirectory()) throw new Error(`${file} is not a regular file`);
    const bytes = Buffer.alloc(length);
    let read = 0;
    for (let last = 1; last > 0 && read < length; read += last)
      last = (await handle.read(bytes, read, length - read, offset + read)).bytesRead;
    return bytes.subarray(0, read);
  } finally {
    await handle.close();
  }
}
