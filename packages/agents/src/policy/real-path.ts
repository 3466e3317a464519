import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { isUnder, type Sandbox } from '@whetstone/sandbox';
import picomatch from 'picomatch';

/** Where a path of an agent leads. */
export type RealPath = {
  /** As it is written, without `..` and links: absolute. */
  written: string;
  /** Where a write would end up: absolute, with the links of every folder above it and of itself resolved. */
  real: string;
  /** It has other names, of which some may lie elsewhere. */
  isHardLinked: boolean;
};

/** Where paths lie that a sandboxed program sees, and the other way round. */
export type SeenPlace = Pick<Sandbox, 'hostPath' | 'seenPath'>;

/** Programs see the paths of this machine. */
const SAME: SeenPlace = { hostPath: (path) => path, seenPath: (path) => path };

/**
 * Resolves a path against a folder, both as the program sees them. What does not exist yet lies where its closest existing
 * folder is.
 */
export async function realPathOf(path: string, folder: string, place = SAME): Promise<RealPath> {
  if (path.includes('\0')) return { written: UNRESOLVED, real: UNRESOLVED, isHardLinked: false };
  const written = isAbsolute(path) ? resolve(path) : resolve(folder, path);
  const stat = await lstat(place.hostPath(written)).catch(() => undefined);
  return {
    written,
    // Not of `written`: the kernel follows the link before the `..` behind it.
    real: await realOf(isAbsolute(path) ? path : `${resolve(folder)}/${path}`, place),
    isHardLinked: stat?.isFile() === true && stat.nlink > 1,
  };
}

async function realOf(path: string, place: SeenPlace): Promise<string> {
  const trailing: string[] = [];
  for (let at = path.replace(/\/+$/, '') || '/'; ; ) {
    const real = await realpath(place.hostPath(at)).catch(() => undefined);
    if (real !== undefined) return resolve(place.seenPath(real), ...trailing.reverse());
    const target = await lstat(place.hostPath(at)).catch(() => undefined);
    // A link to what does not exist yet: a write would make its target, wherever that is.
    if (target?.isSymbolicLink()) return UNRESOLVED;
    const above = dirname(at);
    if (above === at) return resolve(at, ...trailing.reverse());
    trailing.push(at.slice(above.length).replace(/^\/+/, ''));
    at = above;
  }
}

/** Whether each path leads below one of the folders. A relative path is one of `workdir`. */
export async function areBelow(
  folders: readonly string[],
  paths: readonly string[],
  workdir: string,
  place: SeenPlace | undefined,
): Promise<boolean> {
  const real = (path: string) => realPathOf(path, workdir, place);
  const roots = await Promise.all(folders.map(real));
  const places = await Promise.all(paths.map(real));
  return places.every((one) => roots.some((root) => isUnder(root.real, one.real)));
}

/** A path that is nowhere: inside no folder, and matched by no pattern but `**`. */
const UNRESOLVED = '/\0unresolved';

/** Whether a path fits a pattern: a relative pattern is below `workdir`, which is a real path. */
export function fitsPath(pattern: string, path: string, workdir: string, nocase: boolean): boolean {
  const options = { dot: true, nocase };
  if (isAbsolute(pattern)) return picomatch.isMatch(path, pattern, options);
  const below = relative(workdir, path);
  if (below === '..' || below.startsWith('../') || isAbsolute(below)) return false;
  return picomatch.isMatch(below, pattern.replace(/^\.\//, ''), options);
}
