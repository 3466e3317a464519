import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { WhetstoneError } from '@whetstone/errors';

/** More than any file that an adapter has to read whole: a sparse file of a terabyte must not be our memory. */
const LARGEST_READ_BYTES = 64 * 1024 * 1024;

/**
 * Reads and writes files for the host where an agent could have put anything: a name that leads out of `root` (by
 * `..` or through a symbolic link) is refused, and only regular files are touched, so that a pipe cannot stall us.
 */
export type ConfinedFiles = {
  /** At most 64 MiB. */
  read(path: string): Promise<Buffer>;
  /** Creates parents and replaces contents. `mode` is set where given; else a file keeps its own, a new one gets 0o644. */
  write(path: string, content: Uint8Array | string | Readable, mode?: number): Promise<void>;
};

/** Files under `root`; paths are relative to it. */
export function createConfinedFiles(root: string): ConfinedFiles {
  return {
    async read(path) {
      return readRegularFile(await resolveUnder(root, path));
    },
    async write(path, content, mode) {
      const target = await resolveUnder(root, path);
      await mkdir(dirname(target), { recursive: true });
      // Asked again: between the two, whoever else writes here may have put a link in the way.
      await writeRegularFile(await resolveUnder(root, path), content, mode);
    },
  };
}

/** Files anywhere, by absolute path, with the same care for what is not a regular file. */
export const absoluteFiles: ConfinedFiles = {
  read: readRegularFile,
  async write(path, content, mode) {
    await mkdir(dirname(path), { recursive: true });
    await writeRegularFile(path, content, mode);
  },
};

/**
 * The path with the links of its folders followed and its last name taken as it is: what removing and renaming work
 * on. An error when it is not under `root`.
 */
export async function entryUnder(root: string, path: string): Promise<string> {
  return join(await resolveUnder(root, dirname(path)), basename(path));
}

/** The real path that `path` comes to, all links followed; an error when it is not under `root`. It need not exist. */
export async function resolveUnder(root: string, path: string): Promise<string> {
  const realRoot = await realpath(root);
  const wanted = resolve(realRoot, path);
  const real = await realpathOfExistingPart(wanted);
  if (isUnder(realRoot, wanted) && isUnder(realRoot, real)) return real;
  throw new WhetstoneError('sandbox-path-outside', 'The path leads out of the folder that it belongs to.', {
    where: path,
  });
}

async function realpathOfExistingPart(path: string): Promise<string> {
  const rest: string[] = [];
  for (let existing = path; ; existing = dirname(existing)) {
    // `lstat` first: a dangling link exists, and must not pass for a name that is still free.
    const exists = await lstat(existing).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
        throw error;
      },
    );
    if (exists) return resolve(await realpath(existing), ...rest);
    rest.unshift(relative(dirname(existing), existing));
  }
}

/** Whether a path, links not followed, is `root` or lies under it. */
export function isUnder(root: string, path: string): boolean {
  const rest = relative(root, path);
  return rest !== '..' && !rest.startsWith('../') && !isAbsolute(rest);
}

async function readRegularFile(path: string): Promise<Buffer> {
  await using handle = await openRegularFile(path, constants.O_RDONLY);
  const { size } = await handle.stat();
  if (size > LARGEST_READ_BYTES) {
    throw new WhetstoneError(
      'sandbox-file-too-large',
      `The file has ${size} bytes; at most ${LARGEST_READ_BYTES} can be read.`,
      { where: path },
    );
  }
  // Awaited here, while the handle is open.
  return await handle.readFile();
}

async function writeRegularFile(
  path: string,
  content: Uint8Array | string | Readable,
  mode?: number,
): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  await using handle = await openRegularFile(path, flags, mode ?? 0o644);
  await handle.truncate();
  await handle.writeFile(content);
  // `open` sets it for new files only, and only as far as the umask lets it.
  if (mode !== undefined) await handle.chmod(mode);
}

async function openRegularFile(path: string, flags: number, mode?: number): Promise<FileHandle> {
  const handle = await open(path, flags | constants.O_NONBLOCK, mode);
  const entry = await handle.stat();
  // A folder fails on its own, with the code that callers know (`EISDIR`).
  if (entry.isFile() || entry.isDirectory()) return handle;
  await handle.close();
  throw new WhetstoneError('sandbox-file-irregular', 'The path is not a regular file.', { where: path });
}
