import { isUtf8 } from 'node:buffer';
import { WhetstoneError } from '@whetstone/errors';

/** Paths in a tree are latin1 byte strings with `/` between components, because only bytes name every file exactly. */
export function pathBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** What Node takes as a path. */
export type FilePath = string | Buffer;

/** A path to show to people: as UTF-8 where it is valid, else with every byte beyond ASCII as `\xNN`. */
export function displayPath(bytes: string): string {
  if (isAscii(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  if (isUtf8(buffer)) return buffer.toString('utf8');
  return bytes.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
}

/**
 * The path of an entry for the file system. An empty `path` is the root. A text where that names the same bytes, as nearly
 * always: it takes a fraction of the time of a buffer.
 */
export function absolutePath(root: string, path: string): FilePath {
  if (path === '') return root;
  return isAscii(path) ? `${root}/${path}` : Buffer.from(`${pathBytes(root)}/${path}`, 'latin1');
}

const isAscii = (path: string): boolean => !/[\x80-\xff]/.test(path);

export function joinPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** Every folder above a path, nearest first, the root (`''`) left out. */
export function parentPaths(path: string): string[] {
  const parents: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    parents.push(path.slice(0, end));
  }
  return parents;
}

/** The folder of a path; `''` is the root. */
export const parentPath = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Whether some file system reads it as `.git` (`.GIT`, `git~1`, …), by git's `verify_path`. No tree can hold it. */
export function isDotGit(name: string): boolean {
  return /^(\.git|git~1)[. ]*($|[\\:])/i.test(name);
}

const DEVICE_NAME = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])([. :]|$)/i;

/** Refuses a path that leaves the tree or reaches into a `.git`. `path` is a byte string. */
export function assertInsideTree(path: string): void {
  const bad = path
    .split('/')
    .some((name) => name === '' || name === '.' || name === '..' || name.includes('\0') || isDotGit(name));
  if (!bad) return;
  const message = `The path does not stay inside the workspace: ${displayPath(path)}`;
  const hint = 'Use a relative path without `.`, `..`, `.git` or empty parts.';
  throw new WhetstoneError('workspace-path-unsafe', message, { hint });
}

/** Refuses what `assertInsideTree` refuses, and drives, devices and separators of any system. Allows a final slash. */
export function overlayTarget(target: string): string {
  const path = pathBytes(target.replace(/\/+$/, ''));
  const foreign = path.split('/').some((name) => DEVICE_NAME.test(name) || /^[a-z]:/i.test(name));
  if (foreign || path.includes('\\')) {
    throw new WhetstoneError('workspace-path-unsafe', `The path is not portable: ${target}`, {
      hint: 'Use a path without drive letters, device names and backslashes.',
    });
  }
  assertInsideTree(path);
  return path;
}
