import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { SourceEntry } from '../config/source-tree.ts';
import type { TreeEdit } from './base-tree.ts';
import { makeGitDirectory } from './git-directory.ts';
import { importTree } from './import-tree.ts';
import { pathBytes } from './tree-path.ts';

/** Git's id of the empty tree. */
const EMPTY_TREE = idOf('tree', '');
const SOMEONE = 'Whetstone <whetstone@localhost> 0 +0000';
const COMMIT = `tree ${EMPTY_TREE}\nauthor ${SOMEONE}\ncommitter ${SOMEONE}\n\nThe empty tree\n`;

/** What HEAD of a tree store names: a commit of the empty tree. */
export const EMPTY_COMMIT = idOf('commit', COMMIT);

/**
 * A repository of our own, for trees that are not in a repository of the user. Its HEAD is a commit of the empty tree,
 * and the same files always make the same commit. Git is not started for it.
 */
export function openTreeStore(folder: string): string {
  const gitDir = join(folder, '.git');
  if (existsSync(join(gitDir, 'refs/heads/main'))) return folder;
  makeGitDirectory(gitDir, { format: 'sha1' });
  writeObject(gitDir, 'tree', '');
  writeObject(gitDir, 'commit', COMMIT);
  writeFileSync(join(gitDir, 'refs/heads/main'), `${EMPTY_COMMIT}\n`);
  return folder;
}

function writeObject(gitDir: string, type: string, content: string): void {
  const id = idOf(type, content);
  const folder = join(gitDir, 'objects', id.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, id.slice(2)), deflateSync(asObject(type, content)));
}

function idOf(type: string, content: string): string {
  return createHash('sha1').update(asObject(type, content)).digest('hex');
}

function asObject(type: string, content: string): string {
  return `${type} ${content.length}\0${content}`;
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
