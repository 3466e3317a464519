import { appendFileSync, lutimesSync, symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { compareWithTree } from './compare-with-tree.ts';
import { copyTree } from './copy-tree.ts';
import { removeEntry, writeEntry } from './edit-tree.ts';
import { git } from './git.ts';
import type { Placement } from './placement.ts';
import type { Pristine } from './pristine-tree.ts';
import { readBlobs } from './read-blobs.ts';
import type { PreparedSnapshot } from './snapshot.ts';
import { absolutePath } from './tree-path.ts';
import type { EnvironmentLayer, TreeEntry } from './workspace.ts';

/**
 * Adds the files of an environment to a snapshot, in `directory`, which does not exist yet.
 *
 * Times decide what `make` and Python take for up to date. The inputs of the preparation have the times that they had in
 * it; every other file of the tree is newer than the environment, because the preparation has not seen it. `fresh`, the
 * tree of the commit written after the preparation, is for the layers of a mount.
 */
export async function equipSnapshot(options: {
  source: PreparedSnapshot;
  fresh: Pristine | undefined;
  environment: EnvironmentLayer;
  directory: string;
  placement: Placement;
}): Promise<PreparedSnapshot> {
  const { source, fresh, environment, directory, placement } = options;
  const { key, at } = environment;
  await mkdir(directory, { mode: 0o700 });
  const startedAt = performance.now();
  // The paths of a mount are relative to the scratch folder.
  const tree = link(join(directory, 'environment'), environment.tree);
  const { roots, shared, hidden } = await compareWithTree(environment.tree, source);
  const layers = fresh ? [tree, ...source.layers.slice(0, -1), fresh.path] : source.layers;
  const placed = await placement.place(layers, join(directory, 'place'), join(directory, 'backing'));
  try {
    if (!fresh) {
      for (const path of hidden) await removeEntry(placed.path, path);
      await copyTree(tree, placed.path, 'copy');
    }
    await writeTracked(source, placed.path, hidden);
    makeNewer(placed.path, source, { fresh, shared });
    const gitDir = join(placed.path, '.git');
    appendFileSync(join(gitDir, 'info/exclude'), [...roots].map(excludeLine).join(''), 'latin1');
    await git(['update-index', '-q', '--refresh'], { gitDir, workTree: placed.path }).catch(() => undefined);
  } finally {
    await placed.detach();
  }
  const copySeconds = fresh ? 0 : (performance.now() - startedAt) / 1000;
  return {
    ...source,
    environment: { key, roots, bare: source, copySeconds, ...present({ at }) },
    layers: placed.layers,
    homeLayer: link(join(directory, 'home'), environment.home),
  };
}

function link(path: string, target: string): string {
  symlinkSync(target, path);
  return path;
}

/** Puts back the files of the tree that the environment hides: those at the given paths and below them. */
async function writeTracked(
  { entries, objects }: PreparedSnapshot,
  root: string,
  hidden: readonly string[],
): Promise<void> {
  if (hidden.length === 0) return;
  const isHidden = (path: string) => hidden.some((one) => path === one || path.startsWith(`${one}/`));
  const wanted = [...entries].filter(([path, { mode }]) => mode !== '160000' && isHidden(path));
  const oids = wanted.map(([, { oid }]) => oid);
  await readBlobs(join(objects, '..'), oids, async (content, index) => {
    const [path = '', { mode } = NO_ENTRY] = wanted[index] ?? [];
    if (mode !== '160000') await writeEntry(root, { path, mode }, content);
  });
}

const NO_ENTRY: Pick<TreeEntry, 'mode'> = { mode: '160000' };

/** In a mount only the files of the variant are older: the tree of the commit was written after the preparation. */
function makeNewer(
  root: string,
  { entries }: PreparedSnapshot,
  { fresh, shared }: { fresh: Pristine | undefined; shared: ReadonlySet<string> },
): void {
  const now = new Date();
  for (const [path, { mode, oid }] of entries) {
    if (mode === '160000' || shared.has(path) || fresh?.entries.get(path)?.oid === oid) continue;
    lutimesSync(absolutePath(root, path), now, now);
  }
}

/** A line of `info/exclude` for exactly this path. */
const excludeLine = (path: string): string => `/${path.replace(/[\\*?[ ]/g, '\\$&')}\n`;
