import { lstatSync } from 'node:fs';
import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { giveTree, ownerOf } from '@whetstone/sandbox';
import type { OverlayOperation } from '../config/config.ts';
import { applyOverlays } from './apply-overlays.ts';
import { applyEdits, type BaseTree, baseTree, idOf, type TreeEdit } from './base-tree.ts';
import { git } from './git.ts';
import { formatOf, makeGitDirectory, type ObjectFormat } from './git-directory.ts';
import { commitTree, importTree } from './import-tree.ts';
import { instructionPaths } from './place-instructions.ts';
import type { PlacedTree, Placement } from './placement.ts';
import type { Pristine } from './pristine-tree.ts';
import { type ScanOptions, scanTree } from './scan-tree.ts';
import { absolutePath } from './tree-path.ts';
import type { Snapshot, TreeEntries } from './workspace.ts';

/** A snapshot with what is needed to make workspaces from it. */
export type PreparedSnapshot = Snapshot & {
  format: ObjectFormat;
  base: BaseTree;
  /** The object folder of its `.git`: that commit and what it needs. */
  objects: string;
  /** The layers for `Placement.place`. */
  layers: readonly string[];
  /** The layer of the home folder. Absent: homes are empty. */
  homeLayer?: string;
};

/**
 * Makes, in `directory`, the tree that all workspaces with one commit and the same overlays start from, with a `.git`
 * that looks the same for every repository, date and variant. New objects go to `gitDir` until they are packed.
 */
export async function buildSnapshot(options: {
  gitDir: string;
  pristine: Pristine;
  overlays: readonly OverlayOperation[];
  directory: string;
  placement: Placement;
}): Promise<PreparedSnapshot> {
  const { pristine, overlays, directory, placement, gitDir } = options;
  const format = formatOf(pristine.commit);
  await mkdir(directory, { mode: 0o700 });
  const placed = await placement.place([pristine.path], join(directory, 'tree'), join(directory, 'backing'));
  let edits: TreeEdit[] = [];
  let sealedCommit: string;
  const sealed = join(directory, 'git');
  try {
    const pristineBase = baseTree(pristine.entries);
    if (overlays.length > 0) {
      await applyOverlays(placed.path, overlays);
      edits = (await scanTree({ ...scanTarget(placed), base: pristineBase, format })).edits;
    }
    sealedCommit =
      edits.length === 0
        ? commitTree(gitDir, pristine.treeId)
        : await importEdits(gitDir, {
            tree: pristine.treeId,
            root: placed.path,
            edits,
            name: basename(directory),
          });
    makeGitDirectory(sealed, { format, config: AGENT_CONFIG });
    await seal({ gitDir, pristine, placed }, sealed, sealedCommit, edits);
    await giveTree(sealed, ownerOf(pristine.path));
  } finally {
    await placed.detach();
  }
  // After unmounting, the layer can be written directly. A rename through the mount would be a copy.
  const [layer = placed.path] = placed.layers;
  await rename(sealed, join(layer, '.git'));
  const entries = applyEdits(pristine.entries, edits);
  return {
    commit: pristine.commit,
    entries,
    notes: pristine.notes,
    instructionFiles: instructionPaths(entries.keys()),
    format,
    base: baseTree(entries),
    sealedCommit,
    objects: join(layer, '.git/objects'),
    layers: placed.layers,
  };
}

async function importEdits(
  gitDir: string,
  { tree, root, edits, name }: { tree: string; root: string; edits: readonly TreeEdit[]; name: string },
): Promise<string> {
  const change = { start: { tree }, root, edits, ref: `refs/heads/${name}` };
  return (await importTree(gitDir, change)).commit;
}

/** What a scan of a placed tree looks at. */
export function scanTarget({ path, upper, layers }: PlacedTree): Pick<ScanOptions, 'root' | 'layers'> {
  return { root: path, ...(upper === undefined ? {} : { layers: { upper, lower: layers.slice(1) } }) };
}

/** Gives an identity, so that an agent can commit, and switches off background housekeeping that could outlive it. */
export const AGENT_CONFIG = `[core]
	bare = false
\tfilemode = true
\tlogallrefupdates = true
[user]
\tname = Developer
\temail = developer@localhost
[gc]
\tauto = 0
[maintenance]
\tauto = false
`;

/** Fills the new `.git` with the branch, the index, and only the objects that its commit reaches. */
async function seal(
  { gitDir, pristine, placed }: { gitDir: string; pristine: Pristine; placed: PlacedTree },
  sealed: string,
  sealedCommit: string,
  edits: readonly TreeEdit[],
): Promise<void> {
  // Existing deltas are reused. Searching for new ones takes longer than it saves.
  const pack = ['pack-objects', '--revs', '--quiet', '--window=0', '--threads=1'];
  await git([...pack, join(sealed, 'objects/pack/pack')], { gitDir, input: `${sealedCommit}\n` });
  await writeFile(join(sealed, 'refs/heads/main'), `${sealedCommit}\n`);
  const indexFile = join(sealed, 'index');
  await copyFile(pristine.indexFile, indexFile);
  if (edits.length > 0) {
    const lines = edits.map((edit) => indexLine(edit, sealedCommit.length)).join('');
    const input = Buffer.from(lines, 'latin1');
    await git(['update-index', '-z', '--index-info'], { gitDir: sealed, indexFile, input });
  }
  // In a layered mount files keep their inode and times. An index with them saves the agent's git from reading the whole
  // tree at first. In a copy they are new anyway.
  if (placed.upper !== undefined && !(edits.length === 0 && showsSameFiles(pristine, placed))) {
    await git(['update-index', '-q', '--refresh'], { gitDir: sealed, indexFile, workTree: placed.path });
  }
}

/**
 * Whether the files of a mount, of which none was changed, have the inodes and times that are in the index of their tree. One
 * tells it of all.
 */
function showsSameFiles({ path, entries }: Pristine, placed: PlacedTree): boolean {
  const name = firstFile(entries);
  // What was given to another owner has new times.
  if (name === undefined || ownerOf(path) !== undefined) return false;
  const [below, shown] = [path, placed.path].map((root) => lstatSync(absolutePath(root, name)));
  return below?.ino === shown?.ino && below?.ctimeMs === shown?.ctimeMs && below?.mtimeMs === shown?.mtimeMs;
}

/** `undefined` where there are only submodules. */
function firstFile(entries: TreeEntries): string | undefined {
  for (const [path, { mode }] of entries) if (mode !== '160000') return path;
  return undefined;
}

function indexLine(edit: TreeEdit, idLength: number): string {
  const [mode, oid] = edit.kind === 'write' ? [edit.mode, idOf(edit)] : ['0', '0'.repeat(idLength)];
  return `${mode} ${oid}\t${edit.path}\0`;
}
