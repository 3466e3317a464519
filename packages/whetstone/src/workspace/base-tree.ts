import { parentPaths } from './tree-path.ts';
import type { Manifest, ManifestEntry } from './workspace.ts';

/** A manifest that can be asked by folder. */
export type BaseTree = {
  manifest: Manifest;
  /** Folder (`''` the root) → the names in it. */
  folders: ReadonlyMap<string, ReadonlySet<string>>;
};

export function baseTree(manifest: Manifest): BaseTree {
  const folders = new Map<string, Set<string>>([['', new Set()]]);
  for (const path of manifest.keys()) {
    let child = path;
    for (const parent of [...parentPaths(path), '']) {
      const names = folders.get(parent);
      const name = child.slice(parent === '' ? 0 : parent.length + 1);
      if (names) {
        names.add(name);
        break;
      }
      folders.set(parent, new Set([name]));
      child = parent;
    }
  }
  return { manifest, folders };
}

/** One difference between a tree and its base. */
export type TreeEdit =
  | { kind: 'write'; path: string; mode: '100644' | '100755' | '120000'; oid: string }
  | { kind: 'delete'; path: string };

export function applyEdits(manifest: Manifest, edits: readonly TreeEdit[]): Manifest {
  const result = new Map<string, ManifestEntry>(manifest);
  for (const edit of edits) {
    if (edit.kind === 'delete') result.delete(edit.path);
    else result.set(edit.path, { mode: edit.mode, oid: edit.oid });
  }
  return result;
}
