import type { OverlayOperation } from '../config/config.ts';
import { listSource } from '../config/source-tree.ts';

/** The paths of a tree's files after overlays, found without making the tree. Display paths, `/` separated. */
export async function overlaidPaths(
  paths: Iterable<string>,
  overlays: readonly OverlayOperation[],
): Promise<Set<string>> {
  const after = new Set(paths);
  const takeAway = (target: string) => {
    for (const path of after) if (path === target || path.startsWith(`${target}/`)) after.delete(path);
  };
  for (const overlay of overlays) {
    if (overlay.kind === 'remove') {
      for (const path of overlay.paths) takeAway(plain(path));
      continue;
    }
    const target = plain(overlay.target);
    takeAway(target);
    const below = overlay.kind === 'copy' ? (await listSource(overlay.source)).map(({ path }) => path) : [''];
    for (const path of below) after.add(path === '' ? target : `${target}/${path}`);
  }
  return after;
}

const plain = (target: string): string => target.replace(/\/+$/, '');
