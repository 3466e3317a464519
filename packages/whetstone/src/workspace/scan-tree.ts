import {
  accessSync,
  chmodSync,
  constants,
  type Dirent,
  lstatSync,
  readdirSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import type { BaseTree, TreeEdit } from './base-tree.ts';
import type { ObjectFormat } from './git-directory.ts';
import { hashBytes, hashFile } from './hash-blob.ts';
import { isOfLayer } from './of-layer.ts';
import { takeTurns } from './take-turns.ts';
import { absolutePath, displayPath, type FilePath, isDotGit, joinPath, parentPaths } from './tree-path.ts';

/**
 * How a tree differs from its base, by content. Every name counts: no ignore file, attribute, index or repository in
 * the tree has any influence. The `.git` of the root is left out, whatever it is; symlinks are not followed.
 */
export type Scan = {
  edits: TreeEdit[];
  /** Byte paths of what no patch can hold: devices, pipes, sockets, `.git` below the root, unreadable files. */
  unportable: string[];
  /** Of the files that were added or changed. */
  bytes: number;
};

export type ScanOptions = {
  root: string;
  base: BaseTree;
  format: ObjectFormat;
  /** Byte paths at which nothing is looked at, and which the base does not have. Default: none. */
  leftOut?: ReadonlySet<string>;
  /** How much the tree may differ. Default: without limits. */
  limits?: ChangeLimits;
  /** Whether files that the base does not have get no id. Then they are not read. Default: no. */
  leavesNewUnread?: boolean;
  /**
   * The layers of the mount at `root`, if `root` is one. The lower layers together must hold the base. `lent`: a layer between
   * them that has new folders only.
   */
  layers?: { upper: string; lower: readonly string[]; lent?: string };
};

/** How much one tree may differ from its base: bytes of a file, bytes of all files, and paths. */
export type ChangeLimits = { fileBytes: number; bytes: number; paths: number };

/** `whole`: every entry is compared, because the layers below do not show what is in it. */
type Folder = { path: string; whole: boolean };

type Kind = 'folder' | 'file' | 'symlink' | 'special';

export async function scanTree(options: ScanOptions): Promise<Scan> {
  const { base } = options;
  const scan: Scan = { edits: [], unportable: [], bytes: 0 };
  const folders: Folder[] = [{ path: '', whole: options.layers === undefined }];
  const turn = takeTurns();

  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await list(options.root, folder.path);
    const touched = touchedNames(options, folder, entries);
    if (entries === undefined || touched === undefined) {
      scan.unportable.push(folder.path);
      continue;
    }
    const present = new Set<string>();
    for (const entry of entries) {
      const name = entry.name.toString('latin1');
      present.add(name);
      const path = joinPath(folder.path, name);
      if (path === '.git' || (touched !== 'all' && !touched.has(name))) continue;
      if (options.leftOut?.has(path)) continue;
      const kind = kindOf(entry);
      if (!isPortable(path, name, kind) || !(await fitsSubmodule(options, path, kind))) {
        scan.unportable.push(path);
        if (!isSubmodule(base, path)) deleteBase(base, path, scan.edits);
      } else if (kind === 'folder') {
        if (isSubmodule(base, path)) continue;
        if (base.entries.has(path)) scan.edits.push({ kind: 'delete', path });
        folders.push({ path, whole: touched === 'all' });
      } else {
        if (base.folders.has(path)) deleteBase(base, path, scan.edits);
        if (!isNewUnread(options, path, kind, scan)) await compare(options, path, kind === 'symlink', scan);
      }
      await turn();
    }
    for (const name of base.folders.get(folder.path) ?? []) {
      if (!present.has(name)) deleteBase(base, joinPath(folder.path, name), scan.edits);
    }
  }
  scan.unportable.sort(byBytes);
  return scan;
}

export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function compare(options: ScanOptions, path: string, symlink: boolean, scan: Scan): Promise<void> {
  const { root, format, limits } = options;
  const absolute = absolutePath(root, path);
  const read = () =>
    symlink
      ? readSymlink(absolute, format)
      : readFile(absolute, format, (size) => assertSize(path, size, limits));
  const found = await withAccess(root, path, read);
  if (found === undefined) {
    scan.unportable.push(path);
    return;
  }
  const { bytes, ...now } = found;
  const before = options.base.entries.get(path);
  if (before?.oid === now.oid && before.mode === now.mode) return;
  add(scan, { kind: 'write', path, ...now }, bytes, limits);
}

/** Adds a new file that can be read as it is. Synchronous, because there may be very many. */
function isNewUnread(
  { root, base, layers, limits, leavesNewUnread }: ScanOptions,
  path: string,
  kind: Kind,
  scan: Scan,
): boolean {
  if (!leavesNewUnread || kind !== 'file' || base.entries.has(path)) return false;
  // Most new files are in the upper layer, where looking takes less time than through the mount.
  const found =
    (layers && readableFile(absolutePath(layers.upper, path))) ?? readableFile(absolutePath(root, path));
  if (!found) return false;
  const { mode, size } = found;
  assertSize(path, size, limits);
  add(scan, { kind: 'write', path, mode: fileMode(mode), size }, size, limits);
  return true;
}

/** `undefined`: there is no file, or it cannot be read. */
function readableFile(path: FilePath): Stats | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    // Most files can be read by everybody.
    if (found && (found.mode & 0o444) !== 0o444) accessSync(path, constants.R_OK);
    return found?.isFile() ? found : undefined;
  } catch {
    return undefined;
  }
}

function add(scan: Scan, edit: TreeEdit, bytes: number, limits: ChangeLimits | undefined): void {
  scan.edits.push(edit);
  scan.bytes += bytes;
  if (limits && scan.bytes > limits.bytes) throw tooLarge(`more than ${mebibytes(limits.bytes)} in all`);
  if (limits && scan.edits.length > limits.paths) throw tooLarge(`more than ${limits.paths} paths`);
}

type Content = { mode: '100644' | '100755' | '120000'; oid: string; bytes: number };

async function readSymlink(path: FilePath, format: ObjectFormat): Promise<Content> {
  const target = readlinkSync(path, { encoding: 'buffer' });
  return { mode: '120000', oid: hashBytes(target, format), bytes: target.length };
}

async function readFile(
  path: FilePath,
  format: ObjectFormat,
  check: (size: number) => void,
): Promise<Content> {
  const { mode, size } = lstatSync(path);
  check(size);
  return { mode: fileMode(mode), oid: await hashFile(path, format), bytes: size };
}

const fileMode = (mode: number) => (mode & 0o100 ? '100755' : '100644');

function assertSize(path: string, size: number, limits: ChangeLimits | undefined): void {
  if (!limits || size <= limits.fileBytes) return;
  throw tooLarge(`${mebibytes(size)} in the file ${displayPath(path.slice(path.lastIndexOf('/') + 1))}`);
}

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;

const tooLarge = (what: string): WhetstoneError =>
  new WhetstoneError('changes-too-large', `The changes in the workspace are too large: ${what}.`);

async function list(root: string, folder: string): Promise<Dirent<Buffer>[] | undefined> {
  const path = absolutePath(root, folder);
  return withAccess(root, folder, () => readdirSync(path, { encoding: 'buffer', withFileTypes: true }));
}

/** The names in a folder that may differ from the base; `undefined` when that is unknown. */
function touchedNames(
  { root, base, layers }: ScanOptions,
  { path, whole }: Folder,
  entries: readonly Dirent<Buffer>[] | undefined,
): Set<string> | 'all' | undefined {
  // All that is in a new folder is new, whichever layer shows it.
  if (whole || layers === undefined || !base.folders.has(path)) return 'all';
  const { upper, lower, lent } = layers;
  const touched = new Set<string>();
  for (const layer of lent === undefined ? [upper] : [upper, lent]) {
    try {
      const names = readdirSync(absolutePath(layer, path), { encoding: 'buffer' });
      for (const name of names) touched.add(name.toString('latin1'));
    } catch (error) {
      if (codeOf(error) === 'ENAMETOOLONG') return undefined;
      if (lent === undefined || codeOf(error) !== 'ENOENT') throw error;
    }
  }
  if (path === '') return touched;
  // The agent may have moved a folder here, which then shows what is below its old path.
  const shown = entries?.map(({ name }) => name.toString('latin1')).find((name) => !touched.has(name));
  return shown === undefined || isOfLayer(root, joinPath(path, shown), lower) ? touched : 'all';
}

/** Unlocks what the agent may have locked. `undefined` when still unreadable, or deeper than the system can name. */
async function withAccess<T>(root: string, path: string, read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (codeOf(error) === 'ENAMETOOLONG') return undefined;
    if (codeOf(error) !== 'EACCES') throw error;
  }
  try {
    if (path !== '') unlock(absolutePath(root, parentPaths(path)[0] ?? ''));
    unlock(absolutePath(root, path));
    return await read();
  } catch (error) {
    if (['EACCES', 'EPERM'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

function unlock(path: FilePath): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return;
  chmodSync(path, (found.mode & 0o7777) | (found.isDirectory() ? 0o700 : 0o400));
}

function kindOf(entry: Dirent<Buffer>): Kind {
  if (entry.isDirectory()) return 'folder';
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'symlink' : 'special';
}

/** Whether git can hold an entry: no special files, no names that git reserves, and no symlink `.gitmodules`. */
function isPortable(path: string, name: string, kind: Kind): boolean {
  if (kind === 'special' || isDotGit(name)) return false;
  return !(kind === 'symlink' && path.toLowerCase() === '.gitmodules');
}

function isSubmodule(base: BaseTree, path: string): boolean {
  return base.entries.get(path)?.mode === '160000';
}

/** A submodule is an empty folder in the tree. A patch cannot hold anything else at its path. */
async function fitsSubmodule(options: ScanOptions, path: string, kind: Kind): Promise<boolean> {
  if (!isSubmodule(options.base, path)) return true;
  return kind === 'folder' && (await list(options.root, path))?.length === 0;
}

/** Adds deletions for everything that the base has at `path` or below, except submodules. */
function deleteBase(base: BaseTree, path: string, edits: TreeEdit[]): void {
  const entry = base.entries.get(path);
  if (entry && entry.mode !== '160000') edits.push({ kind: 'delete', path });
  for (const name of base.folders.get(path) ?? []) deleteBase(base, joinPath(path, name), edits);
}
