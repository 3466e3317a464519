import { isUtf8 } from 'node:buffer';
import { WhetstoneError } from '@whetstone/errors';

/**
 * Paths inside a tree are byte strings in latin1 with `/` between components: git and Linux allow any byte but NUL,
 * and only bytes name a file for certain.
 */
export function pathBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A path for people: UTF-8 where it is, else every byte beyond ASCII as `\xNN`. */
export function displayPath(bytes: string): string {
  const buffer = Buffer.from(bytes, 'latin1');
  if (isUtf8(buffer)) return buffer.toString('utf8');
  return bytes.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
}

/** The path of a tree's entry as the file system wants it. `path` may be empty: the root itself. */
export function absolutePath(root: string, path: string): Buffer {
  return Buffer.from(path === '' ? pathBytes(root) : `${pathBytes(root)}/${path}`, 'latin1');
}

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

/**
 * Whether git takes a name for its own folder on some file system (`.GIT`, `git~1`, `.git ` …), as `verify_path` of
 * git's read-cache.c decides: no tree and no patch can carry it.
 */
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
  throw new WhetstoneError('workspace.unsafe-path', `not a path inside the tree: ${displayPath(path)}`, {
    hint: 'Paths are relative, without `.`, `..`, `.git` or empty components.',
    exitCode: 2,
  });
}

/**
 * The byte path of an overlay target: what `assertInsideTree` asks, and nothing that another system reads as a drive,
 * a device or a separator. A trailing slash is allowed.
 */
export function overlayTarget(target: string): string {
  const path = pathBytes(target.replace(/\/+$/, ''));
  const foreign = path.split('/').some((name) => DEVICE_NAME.test(name) || /^[a-z]:/i.test(name));
  if (foreign || path.includes('\\')) {
    throw new WhetstoneError('workspace.unsafe-path', `not a portable path inside the tree: ${target}`, {
      hint: 'Drive letters, device names and backslashes are refused.',
      exitCode: 2,
    });
  }
  assertInsideTree(path);
  return path;
}
