import { closeSync, openSync, readSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { giveTree, type Owner } from '@whetstone/sandbox';
import { git } from './git.ts';
import { knownTree } from './known-trees.ts';
import { isMissingObject, missingCommit, missingObjects } from './missing-objects.ts';
import { absolutePath, displayPath, type FilePath } from './tree-path.ts';
import type { SnapshotNotes, TreeEntries, TreeEntry } from './workspace.ts';

/** The tree of a commit on disk: the bytes of its blobs, without any `.git` and without what is withheld. */
export type Pristine = {
  commit: string;
  /** The id of its tree object. */
  treeId: string;
  path: string;
  /** A git index of `path`. */
  indexFile: string;
  entries: TreeEntries;
  notes: SnapshotNotes;
};

/**
 * Writes the tree of `commit` below `directory`. `gitDir` is our own git directory that reads the user's objects, so
 * nothing converts contents. `isWithheld`: which byte paths the tree does not get. `owner`: to whom it belongs, if not to us.
 * @throws WhetstoneError `repo-objects-missing` when the repository does not hold the whole tree.
 */
export async function materialisePristine(
  gitDir: string,
  commit: string,
  directory: string,
  isWithheld: (path: string) => boolean,
  owner: Owner | undefined,
): Promise<Pristine> {
  const path = join(directory, 'tree');
  const indexFile = join(directory, 'index');
  await mkdir(path, { recursive: true });
  try {
    const listing = await git(['ls-tree', '-r', '-l', '-z', '--full-tree', commit], { gitDir });
    const all = parseListing(listing.toString('latin1'), commit);
    const blobs = all.filter((blob) => !isWithheld(blob.path));
    const withheld = all.filter((blob) => isWithheld(blob.path));
    const checkout = { gitDir, indexFile, workTree: path };
    const treeId =
      withheld.length === 0
        ? await checkOutWhole(commit, checkout)
        : await checkOutWithout(withheld, commit, checkout);
    await giveTree(path, owner);
    const notes = takeNotes(path, blobs);
    return { commit, treeId, path, indexFile, entries: entriesByPath(blobs), notes };
  } catch (error) {
    if (!isMissingObject(error)) throw error;
    const isThere = await git(['cat-file', '-e', commit], { gitDir }).then(
      () => true,
      () => false,
    );
    throw isThere ? missingObjects(`part of commit ${commit}`, error) : missingCommit(commit, error);
  }
}

type Checkout = { gitDir: string; indexFile: string; workTree: string };

/** Writes the files of a commit, and an index of them. Resolves with the id of their tree. */
async function checkOutWhole(commit: string, checkout: Checkout): Promise<string> {
  await git(['read-tree', '-m', '-u', commit], checkout);
  return knownTree(commit) ?? (await treeOfIndex(checkout));
}

/** As `checkOutWhole`, without these entries. */
async function checkOutWithout(
  withheld: readonly Entry[],
  commit: string,
  { workTree, ...index }: Checkout,
): Promise<string> {
  await git(['read-tree', commit], index);
  const lines = withheld.map(({ path }) => `0 ${'0'.repeat(commit.length)}\t${path}\0`);
  const input = Buffer.from(lines.join(''), 'latin1');
  await git(['update-index', '-z', '--index-info'], { ...index, input });
  const treeId = await treeOfIndex(index);
  await git(['checkout-index', '--all', '--index', '--quiet'], { ...index, workTree });
  return treeId;
}

async function treeOfIndex({ gitDir, indexFile }: Omit<Checkout, 'workTree'>): Promise<string> {
  return (await git(['write-tree', '--missing-ok'], { gitDir, indexFile })).toString().trim();
}

type Entry = TreeEntry & { path: string; size: number };

function parseListing(listing: string, commit: string): Entry[] {
  return listing
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const match = /^(\d{6}) \w+ ([0-9a-f]+) +(\S+)\t(.+)$/s.exec(line);
      const [, mode = '', oid = '', size = '', path = ''] = match ?? [];
      // Old trees have group-writable files. Git reads them as plain files.
      const known = mode === '100664' ? '100644' : mode;
      if (size === 'BAD') throw missingObjects(`${displayPath(path)} of commit ${commit}`);
      return { path, mode: known as TreeEntry['mode'], oid, size: size === '-' ? 0 : Number(size) };
    });
}

function entriesByPath(entries: readonly Entry[]): TreeEntries {
  return new Map(entries.map(({ path, mode, oid }) => [path, { mode, oid }]));
}

function takeNotes(root: string, entries: readonly Entry[]): SnapshotNotes {
  return {
    submodules: entries.filter(({ mode }) => mode === '160000').map(({ path }) => displayPath(path)),
    lfsPointers: entries
      .filter((entry) => mayBeLfsPointer(entry) && startsLikeLfsPointer(absolutePath(root, entry.path)))
      .map(({ path }) => displayPath(path)),
  };
}

/** A pointer of Git LFS is UTF-8 text of less than 1024 bytes that starts with this version line. */
const LFS_VERSION = Buffer.from('version https://git-lfs.github.com/spec/');

function mayBeLfsPointer({ mode, size }: Entry): boolean {
  return (mode === '100644' || mode === '100755') && size > LFS_VERSION.length && size < 1024;
}

function startsLikeLfsPointer(path: FilePath): boolean {
  const start = Buffer.alloc(LFS_VERSION.length);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, start);
  } finally {
    closeSync(descriptor);
  }
  return start.equals(LFS_VERSION);
}
