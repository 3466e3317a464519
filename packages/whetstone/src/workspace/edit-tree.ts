import { lstat, mkdir, open, rmdir, symlink, unlink } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { codeOf } from '@whetstone/errors';
import { removeTree } from '@whetstone/sandbox';
import { absolutePath, assertInsideTree, parentPaths } from './tree-path.ts';

/**
 * Writes into a tree that an agent may have prepared to trick the writer: follows no symlink, replaces what is in the
 * way, changes nothing outside. Refuses paths that leave the tree or reach into a `.git`.
 */
export type NewEntry = { path: string; mode: '100644' | '100755' | '120000' };

/** Writes a file or a symlink (then `content` is its target) at `path`, in place of whatever was there. */
export async function writeEntry(
  root: string,
  { path, mode }: NewEntry,
  content: AsyncIterable<Buffer>,
): Promise<void> {
  assertInsideTree(path);
  await makeRoom(root, path);
  const absolute = absolutePath(root, path);
  if (mode === '120000') {
    await symlink(await buffer(content), absolute);
    return;
  }
  // `wx` fails on anything that exists, a symlink included.
  await using file = await open(absolute, 'wx', mode === '100755' ? 0o777 : 0o666);
  for await (const chunk of content) await file.appendFile(chunk);
}

/** Prepares `path` for a new entry: makes real folders above it and removes what is at it. */
export async function makeRoom(root: string, path: string): Promise<void> {
  await makeFolder(root, parentPaths(path)[0] ?? '');
  await removeEntry(root, path);
}

/** Makes a folder of the tree and those above it, in place of anything that is not a real folder. `''` is the root. */
export async function makeFolder(root: string, path: string): Promise<void> {
  if (path === '') return;
  assertInsideTree(path);
  for (const folder of [...parentPaths(path).reverse(), path]) {
    const absolute = absolutePath(root, folder);
    const found = await find(absolute);
    if (found?.isDirectory()) continue;
    if (found) await unlink(absolute);
    await mkdir(absolute);
  }
}

/** Removes a folder with its content, or a link itself, but nothing below a link or a file. Resolves with whether. */
export async function removeEntry(root: string, path: string): Promise<boolean> {
  for (const folder of parentPaths(path).reverse()) {
    if (!(await find(absolutePath(root, folder)))?.isDirectory()) return false;
  }
  const absolute = absolutePath(root, path);
  const found = await find(absolute);
  if (!found) return false;
  if (found.isDirectory()) await removeTree(absolute);
  else await unlink(absolute);
  return true;
}

/** Removes the folders above a removed path that are now empty, because git has no empty folders. */
export async function pruneFolders(root: string, path: string): Promise<void> {
  for (const folder of parentPaths(path)) {
    const absolute = absolutePath(root, folder);
    if (!(await find(absolute))?.isDirectory()) continue;
    try {
      await rmdir(absolute);
    } catch {
      return;
    }
  }
}

async function find(path: Buffer) {
  return lstat(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  });
}
