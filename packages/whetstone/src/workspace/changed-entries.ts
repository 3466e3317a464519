import type { Changes, TreeEntries, TreeEntry } from './workspace.ts';

/** The entries of a tree after changes. */
export function changedEntries(entries: TreeEntries, { files }: Pick<Changes, 'files'>): TreeEntries {
  const changed = new Map<string, TreeEntry>(entries);
  for (const { bytes, fromBytes, mode, oid } of files) {
    changed.delete(bytes);
    if (fromBytes !== undefined) changed.delete(fromBytes);
    if (mode !== undefined && oid !== undefined) changed.set(bytes, { mode, oid });
  }
  return changed;
}
