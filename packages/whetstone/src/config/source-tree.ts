import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '@whetstone/errors';
import { isGitFolder } from '@whetstone/sandbox';

/** A file or folder of the user's that is laid over a tree: an overlay source, hidden tests. */
export type SourceEntry = {
  /** `/` separated, relative to the source; empty where the source is one file. */
  path: string;
  absolute: string;
} & ({ kind: 'file'; executable: boolean } | { kind: 'symlink'; target: string } | { kind: 'special' });

/** Every file and symlink of a source, sorted by path. Symlinks below the root are never followed. */
export async function listSource(root: string): Promise<SourceEntry[]> {
  const real = await realpath(root);
  const entries: SourceEntry[] = [];
  await collect(real, '', entries);
  return entries.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

async function collect(absolute: string, path: string, entries: SourceEntry[]): Promise<void> {
  const status = await lstat(absolute);
  if (status.isDirectory()) {
    for (const name of await readdir(absolute)) {
      await collect(join(absolute, name), path === '' ? name : `${path}/${name}`, entries);
    }
  } else if (status.isSymbolicLink()) {
    entries.push({ path, absolute, kind: 'symlink', target: await readlink(absolute) });
  } else if (status.isFile()) {
    entries.push({ path, absolute, kind: 'file', executable: (status.mode & 0o111) !== 0 });
  } else {
    entries.push({ path, absolute, kind: 'special' });
  }
}

/** Why a source must not be laid over a tree: links that lead out of it, a `.git`, devices and sockets. */
export async function sourceProblems(root: string): Promise<string[]> {
  const real = await realpath(root);
  const problems: string[] = [];
  for (const entry of await listSource(root)) {
    const name = entry.path === '' ? 'the source' : entry.path;
    if (entry.path.split('/').some(isGitFolder)) problems.push(`${name} is in a .git folder`);
    else if (entry.kind === 'special') problems.push(`${name} is not a file, a folder or a symlink`);
    else if (entry.kind === 'symlink' && (await leadsOut(real, entry))) {
      problems.push(`${name} is a symlink that leads out of the source (to ${entry.target})`);
    }
  }
  return problems;
}

/** Why a folder cannot be copied into an agent's home; `what` it is, for people. */
export async function copyProblems(folder: string, what: string): Promise<string[]> {
  try {
    const links = (await listSource(folder)).filter(({ kind }) => kind === 'symlink');
    if (links.length === 0) return await sourceProblems(folder);
    return links.map((link) => `${link.path} is a symlink; ${what} is copied and may contain only files`);
  } catch (error) {
    return [`cannot be read: ${messageOf(error)}`];
  }
}

async function leadsOut(root: string, entry: { absolute: string; target: string }): Promise<boolean> {
  if (isAbsolute(entry.target)) return true;
  const spelled = resolve(dirname(entry.absolute), entry.target);
  if (!isInside(root, spelled)) return true;
  const real = await realpath(entry.absolute).catch(() => undefined);
  return real !== undefined && !isInside(root, real);
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** sha256 over paths, kinds, executable bits and bytes of a source: the same wherever the source stands. */
export async function hashSource(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const entry of await listSource(root)) {
    const content = entry.kind === 'file' ? await hashFile(entry.absolute) : '';
    const kind = entry.kind === 'file' && entry.executable ? 'executable' : entry.kind;
    const target = entry.kind === 'symlink' ? entry.target : '';
    hash.update(`${JSON.stringify([entry.path, kind, target, content])}\n`);
  }
  return hash.digest('hex');
}

/** sha256 of a file's bytes, hexadecimal. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
