import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceEntry } from '../config/source-tree.ts';
import type { TreeEdit } from './base-tree.ts';
import { git } from './git.ts';
import { makeGitDirectory } from './git-directory.ts';
import { importTree } from './import-tree.ts';
import { pathBytes } from './tree-path.ts';

/** Git's id of the empty tree. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const SOMEONE = 'Whetstone <whetstone@localhost> 0 +0000';

/**
 * A repository of our own, for trees that are not in a repository of the user. Its HEAD is a commit of the empty tree,
 * and the same files always make the same commit.
 */
export async function openTreeStore(folder: string): Promise<string> {
  const gitDir = join(folder, '.git');
  if (existsSync(join(gitDir, 'refs/heads/main'))) return folder;
  makeGitDirectory(gitDir, { format: 'sha1' });
  await git(['hash-object', '-w', '-t', 'tree', '--stdin'], { gitDir, input: '' });
  const commit = `tree ${EMPTY_TREE}\nauthor ${SOMEONE}\ncommitter ${SOMEONE}\n\nThe empty tree\n`;
  const id = await git(['hash-object', '-w', '-t', 'commit', '--stdin'], { gitDir, input: commit });
  writeFileSync(join(gitDir, 'refs/heads/main'), id);
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
  return importTree(join(store, '.git'), { start, root, edits, ref: 'refs/heads/fixture' });
}
