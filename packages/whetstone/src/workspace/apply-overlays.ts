import { lstat, readFile, realpath } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { OverlayOperation } from '../config/config.ts';
import { replaceWithCopy } from './copy-into-tree.ts';
import { pruneFolders, removeEntry, writeEntry } from './edit-tree.ts';
import { absolutePath, overlayTarget, pathBytes } from './tree-path.ts';

/**
 * Applies a variant's overlays in order. A copy replaces everything at its target. A source that is a symlink is copied
 * as what it leads to; symlinks inside a folder are copied as symlinks. `.git` folders are left out.
 * @throws WhetstoneError `overlay-source-missing`, `overlay-source-unreadable`, `workspace-path-unsafe`
 */
export async function applyOverlays(root: string, overlays: readonly OverlayOperation[]): Promise<void> {
  for (const overlay of overlays) {
    if (overlay.kind === 'remove') {
      for (const path of overlay.paths.map(overlayTarget)) {
        if (await removeEntry(root, path)) pruneFolders(root, path);
      }
    } else if (overlay.kind === 'copy') {
      await replaceWithCopy(root, overlay.source, overlayTarget(overlay.target));
    } else if (overlay.kind === 'append') {
      await appendText(root, overlayTarget(overlay.target), overlay.text);
    } else {
      const path = overlayTarget(overlay.target);
      await writeEntry(root, { path, mode: '100644' }, Readable.from([Buffer.from(overlay.text)]));
    }
  }
}

/** Adds a paragraph to a file. A symlink to another file of the tree stays, and that file gets the text. */
async function appendText(root: string, target: string, text: string): Promise<void> {
  const path = await fileBehind(root, target);
  const before = path === undefined ? '' : await readFile(absolutePath(root, path), 'latin1');
  const space = before === '' ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  const content = Buffer.concat([Buffer.from(before + space, 'latin1'), Buffer.from(text)]);
  await writeEntry(root, { path: path ?? target, mode: '100644' }, Readable.from([content]));
}

/** The path in the tree of the file that a path leads to. `undefined`: to no file, or out of the tree. */
async function fileBehind(root: string, target: string): Promise<string | undefined> {
  const top = `${pathBytes(await realpath(root))}/`;
  const real = await realpath(absolutePath(root, target), { encoding: 'buffer' }).catch(() => undefined);
  const path = real?.toString('latin1');
  if (!real || !path?.startsWith(top) || !(await lstat(real)).isFile()) return undefined;
  return path.slice(top.length);
}
