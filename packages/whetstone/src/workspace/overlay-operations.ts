import { constants, createReadStream } from 'node:fs';
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import type { OverlayOperation } from '../config/config.ts';
import { WhetstoneError } from '../error.ts';
import { makeFolder, makeRoom, pruneFolders, removeEntry, writeEntry } from './edit-tree.ts';
import { absolutePath, displayPath, joinPath, overlayTarget, pathBytes } from './tree-path.ts';

/**
 * Applies a variant's overlay to a tree, in order. A copied file or folder replaces what is at its target as a whole; a
 * removed path takes with it what is below.
 * Throws a `WhetstoneError` (exit code 2): `overlay.source-missing`, `overlay.source-unreadable`, `workspace.unsafe-path`.
 */
export async function applyOverlay(root: string, operations: readonly OverlayOperation[]): Promise<void> {
  for (const operation of operations) {
    if (operation.kind === 'remove') {
      for (const path of operation.paths.map(overlayTarget)) {
        if (await removeEntry(root, path)) await pruneFolders(root, path);
      }
      continue;
    }
    const target = overlayTarget(operation.target);
    await requireSource(operation.source);
    await makeRoom(root, target);
    await copyIn(root, Buffer.from(operation.source), target, 'followed');
  }
}

/** Copies a folder over a tree: folders are merged, files and symlinks replaced. `.git` folders are left out. */
export async function layFolder(root: string, folder: string): Promise<void> {
  await requireSource(folder);
  await copyFolder(root, Buffer.from(folder), '');
}

/**
 * A configuration names what a path leads to, so a source that is itself a symlink is followed; symlinks inside of it
 * are copied as symlinks.
 */
async function copyIn(
  root: string,
  source: Buffer,
  target: string,
  symlinks: 'followed' | 'kept',
): Promise<void> {
  const found = await (symlinks === 'followed' ? stat(source) : lstat(source));
  if (found.isDirectory()) {
    await makeFolder(root, target);
    await copyFolder(root, source, target);
  } else if (found.isSymbolicLink()) {
    const link = await readlink(source, { encoding: 'buffer' });
    await writeEntry(root, { path: target, mode: '120000' }, chunksOf(link));
  } else if (found.isFile()) {
    const mode = found.mode & constants.S_IXUSR ? '100755' : '100644';
    await writeEntry(root, { path: target, mode }, createReadStream(source));
  } else {
    throw unreadable(source, 'neither a file, nor a folder, nor a symlink');
  }
}

async function copyFolder(root: string, source: Buffer, target: string): Promise<void> {
  const names = await readdir(source, { encoding: 'buffer' });
  for (const name of names.map((bytes) => bytes.toString('latin1')).sort()) {
    if (name === '.git') continue;
    await copyIn(root, absolutePath(source.toString('utf8'), name), joinPath(target, name), 'kept');
  }
}

async function* chunksOf(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

async function requireSource(source: string): Promise<void> {
  try {
    await stat(source);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!missing) throw unreadable(Buffer.from(source), String(error));
    throw new WhetstoneError('overlay.source-missing', 'nothing to copy from: no such file or folder', {
      where: source,
      hint: '`source` is relative to the configuration file.',
      exitCode: 2,
      cause: error,
    });
  }
}

function unreadable(source: Buffer, why: string): WhetstoneError {
  return new WhetstoneError('overlay.source-unreadable', `cannot be copied into a tree: ${why}`, {
    where: displayPath(pathBytes(source.toString('utf8'))),
    exitCode: 2,
  });
}
