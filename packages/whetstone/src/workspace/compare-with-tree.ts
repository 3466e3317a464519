import { type Dirent, readdirSync, readlinkSync } from 'node:fs';
import { hashBytes, hashFile } from './hash-blob.ts';
import type { PreparedSnapshot } from './snapshot.ts';
import { absolutePath, type FilePath, joinPath } from './tree-path.ts';

/** Byte paths of an environment, by what the tree has there. */
export type Compared = {
  /** The tree has nothing there: files, and folders with all that is in them. */
  roots: Set<string>;
  /** Files with the same content as in the tree: the inputs. */
  shared: Set<string>;
  /** The tree has something else, which counts. */
  hidden: string[];
};

/** Compares the folder of an environment with a tree. Reads only the files that both have. */
export async function compareWithTree(
  folder: string,
  { base, format }: Pick<PreparedSnapshot, 'base' | 'format'>,
): Promise<Compared> {
  const found: Compared = { roots: new Set(), shared: new Set(), hidden: [] };
  const waiting = [''];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    const absolute = absolutePath(folder, parent);
    for (const entry of readdirSync(absolute, { encoding: 'buffer', withFileTypes: true })) {
      const path = joinPath(parent, entry.name.toString('latin1'));
      const tracked = base.entries.get(path);
      if (base.folders.has(path)) {
        if (entry.isDirectory()) waiting.push(path);
        else found.hidden.push(path);
      } else if (tracked === undefined) found.roots.add(path);
      else if (tracked.oid === (await contentOf(entry, absolutePath(folder, path), format))) {
        found.shared.add(path);
      } else found.hidden.push(path);
    }
  }
  return found;
}

async function contentOf(
  entry: Dirent<Buffer>,
  path: FilePath,
  format: PreparedSnapshot['format'],
): Promise<string | undefined> {
  if (entry.isSymbolicLink()) return hashBytes(readlinkSync(path, { encoding: 'buffer' }), format);
  return entry.isFile() ? hashFile(path, format) : undefined;
}
