import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { formatOf, type ObjectFormat } from './git-directory.ts';
import type { FilePath } from './tree-path.ts';

/** Opens a file that was plain when it was listed: refuses a symlink in its place, and does not block on a pipe. */
const READ_PLAIN_FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const CHUNK = 1024 * 1024;

export function hashBytes(content: Uint8Array, format: ObjectFormat): string {
  return startHash(format, content.byteLength).update(content).digest('hex');
}

/** The blob id that git gives to the content of a file, without conversion. */
export async function hashFile(path: FilePath, format: ObjectFormat): Promise<string> {
  return hashSmallFile(path, format) ?? (await hashLargeFile(path, format));
}

function hashSmallFile(path: FilePath, format: ObjectFormat): string | undefined {
  const content = readSmallFile(path);
  return content && hashBytes(content, format);
}

/**
 * `undefined`: the file is large. Synchronous, because for many small files a promise each costs more than reading. `known`: its
 * size in bytes; what was added since is left out.
 */
export function readSmallFile(path: FilePath, known?: number): Buffer | undefined {
  const descriptor = openSync(path, READ_PLAIN_FILE);
  try {
    const size = known ?? fstatSync(descriptor).size;
    if (size > CHUNK) return undefined;
    const content = Buffer.allocUnsafe(size);
    for (let at = 0; at < size; ) {
      const read = readSync(descriptor, content, at, size - at, null);
      if (read === 0) throw shrank();
      at += read;
    }
    return content;
  } finally {
    closeSync(descriptor);
  }
}

const shrank = (): Error => new Error('a file shrank while it was read');

async function hashLargeFile(path: FilePath, format: ObjectFormat): Promise<string> {
  using file = openPlainFile(path);
  const hash = startHash(format, file.size);
  for await (const chunk of file.chunks()) hash.update(chunk);
  return hash.digest('hex');
}

function startHash(format: ObjectFormat, size: number) {
  return createHash(format).update(`blob ${size}\0`);
}

/** The content of an entry. Throws, at its end, if it is not what was hashed. A chunk is valid until the next read. */
export function readHashed(
  path: FilePath,
  entry: { mode: string; oid: string },
): Buffer | AsyncGenerator<Buffer> {
  const content = entry.mode === '120000' ? undefined : readSmallFile(path);
  if (!content) return readLargeHashed(path, entry);
  if (hashBytes(content, formatOf(entry.oid)) !== entry.oid) throw changed();
  return content;
}

const changed = (): Error => new Error('a file changed after it was read');

async function* readLargeHashed(path: FilePath, { mode, oid }: { mode: string; oid: string }) {
  const format = formatOf(oid);
  if (mode === '120000') {
    const target = readlinkSync(path, { encoding: 'buffer' });
    if (hashBytes(target, format) !== oid) throw new Error('a symlink changed after it was read');
    yield target;
    return;
  }
  using file = openPlainFile(path);
  const hash = startHash(format, file.size);
  for await (const chunk of file.chunks()) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== oid) throw changed();
}

/** `chunks`: exactly `size` bytes. A chunk is valid only until the next one is read. */
export type PlainFile = Disposable & { size: number; chunks(): AsyncGenerator<Buffer> };

/** Reading is synchronous, one chunk at a time: most files are small, and a trip to another thread costs more. */
export function openPlainFile(path: FilePath): PlainFile {
  const descriptor = openSync(path, READ_PLAIN_FILE);
  const { size } = fstatSync(descriptor);
  return {
    size,
    async *chunks() {
      const buffer = Buffer.allocUnsafe(Math.min(size, CHUNK));
      for (let left = size; left > 0; ) {
        if (left < size) await setImmediate();
        const read = readSync(descriptor, buffer, 0, Math.min(left, buffer.length), null);
        if (read === 0) throw shrank();
        left -= read;
        yield buffer.subarray(0, read);
      }
    },
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}
