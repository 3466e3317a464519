import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Owner } from '../process/launcher-interface.ts';

/*
 * Where this process is root, the commands of a sealed sandbox are another user. Then what this process makes in that user's
 * folders has to belong to the user. An agent can have put links on the way, so only open files are given away.
 */

const isRoot = (): boolean => process.getuid?.() === 0;

/** Gives a new file or folder, by its descriptor, to the owner of `folder`. Does nothing where this process is not root. */
export function inheritOwner(descriptor: number, folder: string | Buffer): void {
  if (!isRoot()) return;
  const { uid, gid } = lstatSync(folder);
  const made = fstatSync(descriptor);
  // What has other names may have been there before.
  if (uid === 0 || made.uid !== 0 || (made.isFile() && made.nlink !== 1)) return;
  fchownSync(descriptor, uid, gid);
}

/** Makes a folder and those above it, each of which belongs to the owner of the folder that it is in. */
export function makeFolders(path: string, mode?: number): void {
  const first = mkdirSync(path, { recursive: true, ...(mode !== undefined && { mode }) });
  if (first === undefined || !isRoot()) return;
  const made: string[] = [];
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) made.unshift(folder);
  for (const folder of made) inheritFolder(folder);
}

/** Gives a folder that was just made to the owner of the folder that it is in, if it still is at this path. */
export function inheritFolder(path: string | Buffer): void {
  if (!isRoot()) return;
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const place = readlinkSync(`/proc/self/fd/${descriptor}`, 'buffer');
    if (place.equals(Buffer.from(path))) inheritOwner(descriptor, parentOf(place));
  } finally {
    closeSync(descriptor);
  }
}

const parentOf = (path: Buffer): Buffer => path.subarray(0, Math.max(1, path.lastIndexOf('/')));

/** Gives a tree in which no agent has been yet to `owner`, if there is one. */
export async function giveTree(path: string, owner: Owner | undefined): Promise<void> {
  if (owner) await promisify(execFile)('chown', ['-hR', `${owner.uid}:${owner.gid}`, '--', path]);
}

/** To whom a folder belongs, if not to the user of this process. */
export function ownerOf(path: string | Buffer): Owner | undefined {
  if (!isRoot()) return undefined;
  const { uid, gid } = statSync(path);
  return uid === 0 ? undefined : { uid, gid };
}
