import { Readable } from 'node:stream';
import type { OverlayOperation } from '../config/config.ts';
import { replaceWithCopy } from './copy-into-tree.ts';
import { pruneFolders, removeEntry, writeEntry } from './edit-tree.ts';
import { overlayTarget } from './tree-path.ts';

/**
 * Applies a variant's overlays to a tree, in order. A copied file or folder replaces everything at its target; removing
 * a path removes what is below it; a text becomes a plain file. A source that is itself a symlink is copied as the file
 * or folder it leads to, because that is what a path in a configuration means; symlinks inside a folder are copied as
 * symlinks. `.git` folders are left out. Throws a `WhetstoneError` (exit code 2): `overlay-source-missing`,
 * `overlay-source-unreadable`, `workspace-path-unsafe`.
 */
export async function applyOverlays(root: string, overlays: readonly OverlayOperation[]): Promise<void> {
  for (const overlay of overlays) {
    if (overlay.kind === 'remove') {
      for (const path of overlay.paths.map(overlayTarget)) {
        if (await removeEntry(root, path)) await pruneFolders(root, path);
      }
    } else if (overlay.kind === 'write') {
      const path = overlayTarget(overlay.target);
      await writeEntry(root, { path, mode: '100644' }, Readable.from([Buffer.from(overlay.text)]));
    } else {
      await replaceWithCopy(root, overlay.source, overlayTarget(overlay.target));
    }
  }
}
