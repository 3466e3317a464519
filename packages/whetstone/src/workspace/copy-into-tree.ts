import { constants, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { codeOf, messageOf, WhetstoneError } from '@whetstone/errors';
import { makeFolder, makeRoom, writeEntry } from './edit-tree.ts';
import { openPlainFile } from './hash-blob.ts';
import { takeTurns } from './take-turns.ts';
import { displayPath, joinPath } from './tree-path.ts';

/** Copies a file or a folder to `target`, in place of whatever is there. `.git` folders are left out. */
export async function replaceWithCopy(root: string, path: string, target: string): Promise<void> {
  const source = await resolveSource(path);
  await makeRoom(root, target);
  await copyEntry(root, source, target);
}

/**
 * Copies a folder over a tree: folders are merged, files and symlinks replaced. `.git` folders are left out, and the paths of
 * `leftOut` with all that is below them.
 */
export async function mergeFolder(
  root: string,
  folder: string,
  leftOut: ReadonlySet<string> = new Set(),
): Promise<void> {
  const source = await resolveSource(folder);
  if (!lstatSync(source).isDirectory()) throw unreadable(source, 'not a folder');
  await copyFolder(root, source, '', leftOut);
}

async function copyEntry(
  root: string,
  source: Buffer,
  target: string,
  leftOut: ReadonlySet<string> = new Set(),
): Promise<void> {
  const found = lstatSync(source);
  if (leftOut.has(target)) return;
  if (found.isDirectory()) {
    makeFolder(root, target);
    await copyFolder(root, source, target, leftOut);
  } else if (found.isSymbolicLink()) {
    await writeEntry(root, { path: target, mode: '120000' }, linkTarget(source));
  } else if (found.isFile()) {
    const mode = found.mode & constants.S_IXUSR ? '100755' : '100644';
    await writeEntry(root, { path: target, mode }, fileContent(source));
  } else {
    throw unreadable(source, 'neither a file, nor a folder, nor a symlink');
  }
}

async function copyFolder(
  root: string,
  source: Buffer,
  target: string,
  leftOut: ReadonlySet<string>,
): Promise<void> {
  const turn = takeTurns();
  for (const name of readdirSync(source, { encoding: 'buffer' })) {
    await turn();
    if (name.toString('latin1') === '.git') continue;
    const path = joinPath(target, name.toString('latin1'));
    await copyEntry(root, Buffer.concat([source, SLASH, name]), path, leftOut);
  }
}

const SLASH = Buffer.from('/');

async function* linkTarget(source: Buffer): AsyncGenerator<Buffer> {
  yield readlinkSync(source, { encoding: 'buffer' });
}

async function* fileContent(source: Buffer): AsyncGenerator<Buffer> {
  using file = openPlainFile(source);
  yield* file.chunks();
}

async function resolveSource(source: string): Promise<Buffer> {
  try {
    return await realpath(source, { encoding: 'buffer' });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw unreadable(Buffer.from(source), messageOf(error));
    throw new WhetstoneError('overlay-source-missing', 'The file or folder to copy does not exist.', {
      where: source,
      hint: 'Paths in a configuration are relative to the file that contains them.',
      cause: error,
    });
  }
}

function unreadable(source: Buffer, why: string): WhetstoneError {
  const message = `The file or folder cannot be copied into a workspace: ${why}`;
  const where = displayPath(source.toString('latin1'));
  return new WhetstoneError('overlay-source-unreadable', message, { where });
}
