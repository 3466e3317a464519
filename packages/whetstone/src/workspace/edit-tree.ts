import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { codeOf } from '@whetstone/errors';
import { inheritFolder, inheritOwner, removeTree } from '@whetstone/sandbox';
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
    symlinkSync(await buffer(content), absolute);
    return;
  }
  // `wx` fails on anything that exists, a symlink included.
  const descriptor = openSync(absolute, 'wx', mode === '100755' ? 0o777 : 0o666);
  try {
    inheritOwner(descriptor, absolutePath(root, parentPaths(path)[0] ?? ''));
    for await (const chunk of content) writeFileSync(descriptor, chunk);
  } finally {
    closeSync(descriptor);
  }
}

/** Prepares `path` for a new entry: makes real folders above it and removes what is at it. */
export async function makeRoom(root: string, path: string): Promise<void> {
  makeFolder(root, parentPaths(path)[0] ?? '');
  await removeAt(absolutePath(root, path));
}

/** Makes a folder of the tree and those above it, in place of anything that is not a real folder. `''` is the root. */
export function makeFolder(root: string, path: string): void {
  if (path === '') return;
  assertInsideTree(path);
  for (const folder of [...parentPaths(path).reverse(), path]) {
    const absolute = absolutePath(root, folder);
    const found = find(absolute);
    if (found?.isDirectory()) continue;
    if (found) unlinkSync(absolute);
    mkdirSync(absolute);
    inheritFolder(absolute);
  }
}

/** Removes a folder with its content, or a link itself, but nothing below a link or a file. Resolves with whether. */
export async function removeEntry(root: string, path: string): Promise<boolean> {
  for (const folder of parentPaths(path).reverse()) {
    if (!find(absolutePath(root, folder))?.isDirectory()) return false;
  }
  return removeAt(absolutePath(root, path));
}

/** For a path whose folders are real ones. */
async function removeAt(absolute: Buffer): Promise<boolean> {
  const found = find(absolute);
  if (!found) return false;
  if (found.isDirectory()) await removeTree(absolute);
  else unlinkSync(absolute);
  return true;
}

/** Removes the folders above a removed path that are now empty, because git has no empty folders. */
export function pruneFolders(root: string, path: string): void {
  for (const folder of parentPaths(path)) {
    const absolute = absolutePath(root, folder);
    if (!find(absolute)?.isDirectory()) continue;
    try {
      rmdirSync(absolute);
    } catch {
      return;
    }
  }
}

function find(path: Buffer) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
