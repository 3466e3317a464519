import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { WhetstoneError } from '@whetstone/errors';
import { inheritOwner, makeFolders } from './inherit-owner.ts';

/** More than any file that an adapter has to read. A sparse file of a terabyte must not fill the memory. */
const LARGEST_READ_BYTES = 64 * 1024 * 1024;

/**
 * Reads and writes files for the host where an agent could have put anything. A path that leads out of `root` (by `..`
 * or through a symbolic link) is an error, and only regular files are read and written, so that a pipe cannot stall the
 * host.
 */
export type ConfinedFiles = {
  /** At most 64 MiB. */
  read(path: string): Promise<Buffer>;
  /** Creates parents and replaces the content. Without `mode`, a file keeps its mode and a new file gets 0o644. */
  write(path: string, content: Uint8Array | string | Readable, mode?: number): Promise<void>;
};

/** Files under `root`; paths are relative to it. */
export const createConfinedFiles = (root: string): ConfinedFiles =>
  filesAt((path) => resolveUnder(root, path), root);

/** Files anywhere, by absolute path. As above, only regular files are read and written. */
export const absoluteFiles = filesAt(async (path) => path);

function filesAt(locate: (path: string) => Promise<string>, root?: string): ConfinedFiles {
  return {
    read: async (path) => readRegularFile(await locate(path), root && (await realpath(root))),
    async write(path, content, mode) {
      makeFolders(dirname(await locate(path)));
      // Located again, because somebody may have put a link there in between.
      await writeRegularFile(await locate(path), content, mode);
    },
  };
}

/** The path, with the links of its folders followed but not its last name. An error if it is not under `root`. */
export async function entryUnder(root: string, path: string): Promise<string> {
  return join(await resolveUnder(root, dirname(path)), basename(path));
}

/** The real path after following all links. It need not exist. A path that is not under `root` is an error. */
export async function resolveUnder(root: string, path: string): Promise<string> {
  const realRoot = await realpath(root);
  const wanted = resolve(realRoot, path);
  const real = await realpathOfExistingPart(wanted);
  if (isUnder(realRoot, wanted) && isUnder(realRoot, real)) return real;
  throw outside(path);
}

async function realpathOfExistingPart(path: string): Promise<string> {
  const rest: string[] = [];
  for (let existing = path; ; existing = dirname(existing)) {
    // `lstat` comes first, because a dangling link exists and its name is not free.
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

/** Whether a path is `root` or under it. Links are not followed. */
export function isUnder(root: string, path: string): boolean {
  const rest = relative(root, path);
  return rest !== '..' && !rest.startsWith('../') && !isAbsolute(rest);
}

function readRegularFile(path: string, root: string | undefined): Buffer {
  const descriptor = openRegularFile(path, constants.O_RDONLY);
  try {
    if (root !== undefined) assertOpenedUnder(root, descriptor, path);
    const { size } = fstatSync(descriptor);
    if (size <= LARGEST_READ_BYTES) return readFileSync(descriptor);
    throw new WhetstoneError(
      'sandbox-file-too-large',
      `The file has ${size} bytes; at most ${LARGEST_READ_BYTES} can be read.`,
      { where: path },
    );
  } finally {
    closeSync(descriptor);
  }
}

/** Synchronous, because most files are small and several trips to another thread cost more than writing them. */
async function writeRegularFile(
  path: string,
  content: Uint8Array | string | Readable,
  mode?: number,
): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  const descriptor = openRegularFile(path, flags, mode ?? 0o644);
  try {
    inheritOwner(descriptor, dirname(path));
    // Cut off at the end: emptied first, both contents would be lost where the disk is full.
    let size = 0;
    for await (const chunk of content instanceof Readable ? content : [content]) {
      writeFileSync(descriptor, chunk);
      size += Buffer.byteLength(chunk);
    }
    if (fstatSync(descriptor).size > size) ftruncateSync(descriptor, size);
    // `open` sets the mode of new files only, and the umask limits it.
    if (mode !== undefined) fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}

/** A command that still runs can put a link on the way between the check of a path and its use. */
function assertOpenedUnder(root: string, descriptor: number, path: string): void {
  if (process.platform !== 'linux' || isUnder(root, readlinkSync(`/proc/self/fd/${descriptor}`))) return;
  throw outside(path);
}

const outside = (path: string): WhetstoneError =>
  new WhetstoneError('sandbox-path-outside', 'The path leads out of the folder that it belongs to.', {
    where: path,
  });

function openRegularFile(path: string, flags: number, mode?: number): number {
  const descriptor = openSync(path, flags | constants.O_NONBLOCK, mode);
  const entry = fstatSync(descriptor);
  // A folder fails later, with the code that callers know (`EISDIR`).
  if (entry.isFile() || entry.isDirectory()) return descriptor;
  closeSync(descriptor);
  throw new WhetstoneError('sandbox-file-irregular', 'The path is not a regular file.', { where: path });
}
