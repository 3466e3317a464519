import { lstatSync, readdirSync } from 'node:fs';
import { codeOf } from '@whetstone/errors';
import { absolutePath, joinPath } from './tree-path.ts';

/**
 * Whether what a layered mount shows at a path is in one of the layers at the same path, where the upper layer has nothing of it.
 * Files show it by their inode numbers (overlayfs documentation, "Inode properties"); folders have others where layers are in
 * different file systems, so that a file in them is looked at. `false` also for an empty folder.
 */
export function isOfLayer(root: string, path: string, layers: readonly string[]): boolean {
  for (let at = path; ; ) {
    const found = entryOf(root, at);
    if (!found) return false;
    if (!found.isDirectory()) return layers.some((layer) => entryOf(layer, at)?.ino === found.ino);
    const [first] = readdirSync(absolutePath(root, at), { encoding: 'buffer' });
    if (first === undefined) return false;
    at = joinPath(at, first.toString('latin1'));
  }
}

function entryOf(root: string, path: string) {
  try {
    return lstatSync(absolutePath(root, path), { bigint: true });
  } catch (error) {
    if (codeOf(error) !== undefined) return undefined;
    throw error;
  }
}
