import { parentPaths } from './tree-path.ts';
import type { TreeEntries, TreeEntry } from './workspace.ts';

/** The entries of a tree, and the names in each of its folders. */
export type BaseTree = {
  entries: TreeEntries;
  /** Folder (`''` the root) → the names in it. */
  folders: ReadonlyMap<string, ReadonlySet<string>>;
};

export function baseTree(entries: TreeEntries): BaseTree {
  const folders = new Map<string, Set<string>>([['', new Set()]]);
  for (const path of entries.keys()) {
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
  return { entries, folders };
}

/** One difference between a tree and its base. Without `oid`: a new file of `size` bytes that was not read. */
export type TreeEdit =
  | { kind: 'write'; path: string; mode: '100644' | '100755' | '120000'; oid?: string; size?: number }
  | { kind: 'delete'; path: string };

/** A file or a symlink that is new or has changed. */
export type Write = Extract<TreeEdit, { kind: 'write' }>;

export function applyEdits(entries: TreeEntries, edits: readonly TreeEdit[]): TreeEntries {
  const result = new Map<string, TreeEntry>(entries);
  for (const edit of edits) {
    if (edit.kind === 'delete') result.delete(edit.path);
    else result.set(edit.path, { mode: edit.mode, oid: idOf(edit) });
  }
  return result;
}

export function idOf({ path, oid }: { path: string; oid?: string }): string {
  if (oid === undefined) throw new TypeError(`${path} was not read`);
  return oid;
}
