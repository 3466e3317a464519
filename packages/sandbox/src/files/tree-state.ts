import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/**
 * What a folder holds, by path relative to it: kind, mode and content of each entry. Links are not followed. The index of
 * a repository is left out, because asking Git for the status writes it.
 */
export type TreeState = ReadonlyMap<string, string>;

export type TreeChange = { path: string; change: 'added' | 'modified' | 'deleted' };

/** Reads every byte below a folder. What cannot be read counts by its mode and size. */
export async function readTreeState(folder: string): Promise<TreeState> {
  const state = new Map<string, string>();
  const folders = [''];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const name of await readdir(join(folder, at)).catch(() => [])) {
      const path = at === '' ? name : `${at}/${name}`;
      if (path === '.git/index') continue;
      const entry = await describe(join(folder, path));
      if (entry === undefined) continue;
      state.set(path, entry);
      if (entry.startsWith('folder')) folders.push(path);
    }
  }
  return state;
}

/** How a folder changed between two states, in the order of the paths. */
export function treeChanges(before: TreeState, after: TreeState): TreeChange[] {
  const changes: TreeChange[] = [];
  for (const [path, entry] of after) {
    const earlier = before.get(path);
    if (earlier !== entry) changes.push({ path, change: earlier === undefined ? 'added' : 'modified' });
  }
  for (const path of before.keys()) if (!after.has(path)) changes.push({ path, change: 'deleted' });
  return changes.sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function describe(path: string): Promise<string | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (!stat) return undefined;
  const mode = (stat.mode & 0o7777).toString(8);
  if (stat.isSymbolicLink()) return `link ${await readlink(path)}`;
  if (stat.isDirectory()) return `folder ${mode}`;
  if (!stat.isFile()) return `special ${stat.mode.toString(8)}`;
  const content = await hashOf(path).catch(() => `unreadable, ${stat.size} bytes`);
  return `file ${mode} ${content}`;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
