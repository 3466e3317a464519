import {
  closeSync,
  fchownSync,
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
import { inheritFolder, type Owner, ownerOf, removeTree } from '@whetstone/sandbox';
import { absolutePath, assertInsideTree, type FilePath, parentPath, parentPaths } from './tree-path.ts';

/**
 * Writes into a tree that an agent may have prepared to trick the writer: follows no symlink, replaces what is in the
 * way, changes nothing outside. Refuses paths that leave the tree or reach into a `.git`.
 */
export type NewEntry = { path: string; mode: '100644' | '100755' | '120000' };

/** Writes a file or a symlink (then `content` is its target) at `path`, in place of whatever was there. */
export function writeEntry(root: string, entry: NewEntry, content: Content): Promise<void> {
  return entryWriter(root)(entry, content);
}

type Content = Uint8Array<ArrayBufferLike> | AsyncIterable<Buffer>;

/**
 * `writeEntry` for many entries, during which nothing else is written in the tree: it looks at a folder once for all entries
 * in it that follow each other.
 */
export function entryWriter(root: string): (entry: NewEntry, content: Content) => Promise<void> {
  let folder: string | undefined;
  let owner: Owner | undefined;
  return async ({ path, mode }, content) => {
    assertInsideTree(path);
    const parent = parentPath(path);
    if (parent !== folder) {
      makeFolder(root, parent);
      owner = ownerOf(absolutePath(root, parent));
      folder = parent;
    }
    const absolute = absolutePath(root, path);
    if (mode === '120000') {
      await removeAt(absolute);
      symlinkSync(content instanceof Uint8Array ? Buffer.from(content) : await buffer(content), absolute);
      return;
    }
    const descriptor = await openNew(absolute, mode === '100755' ? 0o777 : 0o666);
    try {
      if (owner) fchownSync(descriptor, owner.uid, owner.gid);
      if (content instanceof Uint8Array) writeFileSync(descriptor, content);
      else for await (const chunk of content) writeFileSync(descriptor, chunk);
    } finally {
      closeSync(descriptor);
    }
  };
}

/** In place of whatever is there: `wx` fails on anything that exists, a symlink included. */
async function openNew(absolute: FilePath, mode: number): Promise<number> {
  try {
    return openSync(absolute, 'wx', mode);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    await removeAt(absolute);
    return openSync(absolute, 'wx', mode);
  }
}

/** Prepares `path` for a new entry: makes real folders above it and removes what is at it. */
export async function makeRoom(root: string, path: string): Promise<void> {
  makeFolder(root, parentPath(path));
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
async function removeAt(absolute: FilePath): Promise<boolean> {
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

function find(path: FilePath) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
