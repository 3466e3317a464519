import { lstatSync, readdirSync, rmdirSync } from 'node:fs';
import { codeOf } from '@whetstone/errors';
import { mergeFolder } from './copy-into-tree.ts';
import { removeEntry } from './edit-tree.ts';
import { takeTurns } from './take-turns.ts';
import { absolutePath, displayPath, type FilePath, joinPath } from './tree-path.ts';

/**
 * Makes a tree what a folder holds, but for `.git`. What only the tree has is removed, unless `keep` accepts its display path.
 * Paths of `leftOut`, with all that is below them, stay as they are.
 */
export async function replaceTree(
  root: string,
  folder: string,
  { keep, leftOut }: { keep: (path: string) => boolean; leftOut: ReadonlySet<string> },
): Promise<void> {
  const turn = takeTurns();
  const clear = async (parent: string): Promise<void> => {
    for (const name of readdirSync(absolutePath(root, parent), 'latin1')) {
      await turn();
      const path = joinPath(parent, name);
      if (name === '.git' || leftOut.has(path)) continue;
      const isThere = exists(absolutePath(folder, path));
      if (lstatSync(absolutePath(root, path)).isDirectory()) {
        await clear(path);
        if (!isThere) removeIfEmpty(absolutePath(root, path));
      } else if (!isThere && !keep(displayPath(path))) await removeEntry(root, path);
    }
  };
  await clear('');
  await mergeFolder(root, folder, leftOut);
}

function exists(path: FilePath): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // What is a folder in the tree is a file in the folder.
    if (codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

function removeIfEmpty(folder: FilePath): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}
