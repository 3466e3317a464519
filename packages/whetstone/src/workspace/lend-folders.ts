import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, renameSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import type { NewEntry } from './edit-tree.ts';
import { isOfLayer } from './of-layer.ts';
import type { PlacedTree } from './placement.ts';
import { takeTurns } from './take-turns.ts';
import { absolutePath, joinPath, parentPath, parentPaths } from './tree-path.ts';
import type { Lend } from './workspace.ts';

/** The mode of each entry in a folder, by its path in the tree. */
type Entries = ReadonlyMap<string, NewEntry['mode']>;

/**
 * Takes folders out of the upper layer of a mount into a layer of their own, which the mount then has as a lower one: its tree
 * stays as it was, and nothing changes these files any more. `readAt`: in milliseconds; what was changed later is not lent.
 * `least`: the fewest files that are lent. `onLent` gets the layer. `undefined` without a mount.
 */
export function lendFolders({
  placed: { path: root, upper, mountAgain },
  layers,
  readAt,
  least,
  onLent,
}: {
  placed: PlacedTree;
  layers: readonly string[];
  readAt: number;
  least: number;
  onLent: (layer: string) => void;
}): Lend | undefined {
  if (upper === undefined || mountAgain === undefined) return undefined;
  const from = upper;
  const layer = join(dirname(upper), 'lent');
  let taking: Promise<ReadonlyMap<string, Entries>> | undefined;

  async function take(written: readonly NewEntry[], below: readonly string[]) {
    const taken = new Map<string, Entries>();
    const wanted = newFolders(written, { root, upper: from, own: layers, below });
    if (countOf(wanted) < least) return taken;
    mkdirSync(layer);
    onLent(layer);
    await mountAgain?.([layer, ...layers], async () => {
      for (const [folder, entries] of wanted) {
        if (!(await isPlain(from, folder, { entries, readAt }))) continue;
        moveFolder(from, layer, folder);
        taken.set(folder, entries);
      }
    });
    return taken;
  }

  return async (written, below) => {
    taking ??= take(written, below);
    const folders = await taking;
    const has = (path: string) => parentPaths(path).some((folder) => folders.has(folder));
    // Another reader may want less of them, or have something in their place.
    const count = written.filter(({ path }) => has(path)).length;
    const isFree = [...folders.keys()].every((folder) => below.every((one) => !isThere(one, folder)));
    return folders.size > 0 && count === countOf(folders) && isFree ? { layer, has } : undefined;
  };
}

const countOf = (folders: ReadonlyMap<string, Entries>): number =>
  [...folders.values()].reduce((sum, { size }) => sum + size, 0);

/** The topmost folders above the entries that no layer has, each in a folder that lies over one of the own layers. */
function newFolders(
  written: readonly NewEntry[],
  {
    root,
    upper,
    own,
    below,
  }: { root: string; upper: string; own: readonly string[]; below: readonly string[] },
): ReadonlyMap<string, Entries> {
  const layers = [...new Set([...own, ...below])];
  const isNew = cached((folder) => layers.every((layer) => !isThere(layer, folder)));
  // The agent may have put a folder in the place of another one, whose files then do not show.
  const isOver = cached((folder) => folder === '' || showsLayer(root, folder, { upper, own }));
  const found = new Map<string, Map<string, NewEntry['mode']>>();
  for (const { path, mode } of written) {
    const top = parentPaths(path).findLast(isNew);
    if (top === undefined || !isOver(parentPath(top))) continue;
    const entries = found.get(top);
    if (entries) entries.set(path, mode);
    else found.set(top, new Map([[path, mode]]));
  }
  return found;
}

function cached(look: (path: string) => boolean): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const found = look(path);
    known.set(path, found);
    return found;
  };
}

/**
 * Whether a folder of a layer holds exactly these entries, each as `entryWriter` would write it: a file of its own, with usual
 * rights, that belongs to the owner of the layer.
 */
async function isPlain(
  layer: string,
  folder: string,
  { entries, readAt }: { entries: Entries; readAt: number },
): Promise<boolean> {
  const turn = takeTurns();
  const mask = process.umask();
  const { uid, gid } = lstatSync(layer);
  const isOwn = (found: Stats) => found.uid === uid && found.gid === gid && found.ctimeMs <= readAt;
  const hasMode = (found: Stats, mode: number) => (found.mode & 0o7777) === (mode & ~mask);
  const folders = [folder];
  let count = 0;
  try {
    for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
      const absolute = absolutePath(layer, next);
      const found = lstatSync(absolute);
      const inside = readdirSync(absolute, { encoding: 'buffer', withFileTypes: true });
      // Git has no empty folders, so that a copy has none either.
      if (!found.isDirectory() || inside.length === 0 || !isOwn(found) || !hasMode(found, 0o777))
        return false;
      for (const entry of inside) {
        const path = joinPath(next, entry.name.toString('latin1'));
        if (entry.isDirectory()) {
          folders.push(path);
          continue;
        }
        const mode = entries.get(path);
        const file = lstatSync(absolutePath(layer, path));
        if (mode === undefined || !isOwn(file)) return false;
        const isAsWritten =
          mode === '120000'
            ? file.isSymbolicLink()
            : file.isFile() && file.nlink === 1 && hasMode(file, mode === '100755' ? 0o777 : 0o666);
        if (!isAsWritten) return false;
        count += 1;
        await turn();
      }
    }
  } catch {
    return false; // Too deep to be named.
  }
  return count === entries.size;
}

/** Moves a folder to the same place in another layer, with folders like those above it. */
function moveFolder(from: string, to: string, folder: string): void {
  for (const parent of parentPaths(folder).reverse()) {
    const target = absolutePath(to, parent);
    if (isThere(to, parent)) continue;
    const { mode, uid, gid } = lstatSync(absolutePath(from, parent));
    mkdirSync(target);
    chownSync(target, uid, gid);
    chmodSync(target, mode & 0o7777);
  }
  renameSync(absolutePath(from, folder), absolutePath(to, folder));
}

/** Also where there is a file in place of a folder above it: then something else is there. */
function isThere(layer: string, path: string): boolean {
  try {
    return lstatSync(absolutePath(layer, path), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Whether a folder of a mount shows something that is below the upper layer. */
function showsLayer(root: string, folder: string, { upper, own }: { upper: string; own: readonly string[] }) {
  const names = readdirSync(absolutePath(root, folder), { encoding: 'buffer' });
  const shown = names
    .map((name) => joinPath(folder, name.toString('latin1')))
    .find((path) => !isThere(upper, path));
  return shown !== undefined && isOfLayer(root, shown, own);
}
