import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';

/** In bytes. Larger files are not read. */
const SIZE_LIMIT = 8 * 1024 * 1024;

/**
 * Reads a text of a tree without following any symlink, because an agent made what is in the tree. `undefined`: there is no
 * regular file, or it has more than `limit` bytes (default 8 MiB).
 */
export async function readInTree(
  tree: string,
  path: string,
  limit = SIZE_LIMIT,
): Promise<string | undefined> {
  try {
    let parent = tree;
    for (const part of path.split('/').slice(0, -1)) {
      parent = join(parent, part);
      if (!(await lstat(parent)).isDirectory()) return undefined;
    }
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using handle = await open(join(tree, path), flags);
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > limit) return undefined;
    return await handle.readFile('utf8');
  } catch {
    return undefined;
  }
}
