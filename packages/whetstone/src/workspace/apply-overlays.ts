import { Readable } from 'node:stream';
import type { OverlayOperation } from '../config/config.ts';
import { replaceWithCopy } from './copy-into-tree.ts';
import { pruneFolders, removeEntry, writeEntry } from './edit-tree.ts';
import { overlayTarget } from './tree-path.ts';

/**
 * Applies a variant's overlays in order. A copy replaces everything at its target. A source that is a symlink is copied
 * as what it leads to; symlinks inside a folder are copied as symlinks. `.git` folders are left out.
 * @throws WhetstoneError `overlay-source-missing`, `overlay-source-unreadable`, `workspace-path-unsafe`
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
