import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceEntry } from '../config/source-tree.ts';
import type { TreeEdit } from './base-tree.ts';
import { makeGitDirectory } from './git-directory.ts';
import { importTree } from './import-tree.ts';
import { type LooseObject, objectId, writeLooseObject } from './loose-object.ts';
import { pathBytes } from './tree-path.ts';

const TREE: LooseObject = { type: 'tree', content: '' };
/** Git's id of the empty tree. */
const EMPTY_TREE = objectId(TREE, 'sha1');
const SOMEONE = 'Whetstone <whetstone@localhost> 0 +0000';
const COMMIT: LooseObject = {
  type: 'commit',
  content: `tree ${EMPTY_TREE}\nauthor ${SOMEONE}\ncommitter ${SOMEONE}\n\nThe empty tree\n`,
};

/** What HEAD of a tree store names: a commit of the empty tree. */
export const EMPTY_COMMIT = objectId(COMMIT, 'sha1');

/**
 * A repository of our own, for trees that are not in a repository of the user. Its HEAD is a commit of the empty tree,
 * and the same files always make the same commit. Git is not started for it.
 */
export function openTreeStore(folder: string): string {
  const gitDir = join(folder, '.git');
  if (existsSync(join(gitDir, 'refs/heads/main'))) return folder;
  makeGitDirectory(gitDir, { format: 'sha1' });
  for (const object of [TREE, COMMIT]) writeLooseObject(gitDir, object, 'sha1');
  writeFileSync(join(gitDir, 'refs/heads/main'), `${EMPTY_COMMIT}\n`);
  return folder;
}

/** Commits files of a folder of the user, and resolves with the commit. */
export async function storeTree(
  store: string,
  { root, entries }: { root: string; entries: readonly SourceEntry[] },
): Promise<string> {
  const edits = entries.flatMap((entry): TreeEdit[] => {
    if (entry.kind === 'special') return [];
    const mode = entry.kind === 'symlink' ? '120000' : entry.executable ? '100755' : '100644';
    return [{ kind: 'write', path: pathBytes(entry.path), mode, oid: '' }];
  });
  const start = { tree: EMPTY_TREE };
  return (await importTree(join(store, '.git'), { start, root, edits, ref: 'refs/heads/fixture' })).commit;
}
