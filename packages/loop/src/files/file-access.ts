import { messageOf } from '@whetstone/errors';
import { displayPath, pathsOf, resolvePath } from '../environment/environment-path.ts';
import { environmentRoot } from '../environment/environment-root.ts';
import type { ExecutionEnvironment, FileStat } from '../environment/execution-environment.ts';

/** The file at a path of the model. Rejects, with what the model can do, where the path does not lead to a file. */
export async function statFile(environment: ExecutionEnvironment, path: string): Promise<FileStat> {
  refuseEmpty(path);
  const found = await attempt(environment, path, () => environment.stat(resolvePath(environment, path)));
  if (found === undefined)
    throw new Error(`File not found: ${path}. Use glob or grep to find the right path.`);
  if (found.kind === 'directory') throw new Error(`${path} is a directory. List it with glob or the shell.`);
  refuseSpecial(found, path);
  return found;
}

/** An empty path would be the working folder. */
export function refuseEmpty(path: string): void {
  if (path === '') throw new Error('The path is empty. Name a file.');
}

/** Throws for what has no content of its own: a read could wait forever, and a write would change something else. */
export function refuseSpecial({ kind }: FileStat, path: string): void {
  if (kind === 'directory') throw new Error(`${path}: is a directory`);
  if (kind === 'other')
    throw new Error(`${path}: is a device, a pipe or a socket. Only regular files can be read and written.`);
}

export async function readFile(environment: ExecutionEnvironment, path: string): Promise<Uint8Array> {
  return await attempt(environment, path, () => environment.readBytes(resolvePath(environment, path)));
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'is a directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the device',
  EEXIST: 'exists already',
  EBUSY: 'is busy, for example because something is mounted on it',
  ETXTBSY: 'is a program that is running',
  ELOOP: 'is a symbolic link that leads to itself',
  EAGAIN: 'has nothing to read now, and may never have',
};

/** Why a file operation failed, in words for the model. */
export function describeFailure(error: unknown): string {
  return REASONS[(error as NodeJS.ErrnoException).code ?? ''] ?? messageOf(error);
}

async function attempt<T>(
  environment: ExecutionEnvironment,
  path: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${displayPath(environment, path)}: ${describeFailure(error)}`, { cause: error });
  }
}

const locksOf = new WeakMap<ExecutionEnvironment, Map<string, Promise<void>>>();

/** Runs `work` while no other change to these files runs on the environment, in any session. First come, first served. */
export async function withFileLocks<T>(
  environment: ExecutionEnvironment,
  paths: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const root = environmentRoot(environment);
  const locks = locksOf.get(root) ?? new Map<string, Promise<void>>();
  locksOf.set(root, locks);
  const keys = new Set(await Promise.all(paths.map((path) => canonicalPath(environment, path))));
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  // All locks are taken in one step without a wait, so that two holders can never block each other.
  const earlier = [...keys].map((key) => locks.get(key));
  const mine = Promise.all(earlier).then(() => released);
  for (const key of keys) locks.set(key, mine);
  await Promise.all(earlier);
  try {
    return await work();
  } finally {
    release();
    for (const key of keys) if (locks.get(key) === mine) locks.delete(key);
  }
}

/** The canonical path of a file. For one that does not exist: that of its nearest existing folder, plus the rest. */
export async function canonicalPath(environment: ExecutionEnvironment, path: string): Promise<string> {
  const paths = pathsOf(environment);
  const absolute = resolvePath(environment, path);
  const rest: string[] = [];
  for (let folder = absolute; ; folder = paths.dirname(folder)) {
    const real = await environment.realpath(folder).catch(() => undefined);
    if (real !== undefined) return paths.join(real, ...rest);
    if (folder === paths.dirname(folder)) return absolute;
    rest.unshift(paths.basename(folder));
  }
}

/** The nearest folder from `start` upwards that has a `.git`: a folder, or a file in a worktree. */
export async function findGitRoot(
  environment: ExecutionEnvironment,
  start: string,
): Promise<string | undefined> {
  const paths = pathsOf(environment);
  for (let folder = start; ; folder = paths.dirname(folder)) {
    if (await environment.stat(paths.join(folder, '.git')).catch(() => undefined)) return folder;
    if (folder === paths.dirname(folder)) return undefined;
  }
}
