import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** A save is several events of the file system. */
const SETTLED_MS = 50;

const isIgnored = (name: string): boolean => name === 'node_modules' || name.startsWith('.');

/** A folder and those below it, without installed packages and what begins with a dot. */
export function foldersBelow(root: string): string[] {
  const below = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !isIgnored(entry.name),
  );
  return [root, ...below.flatMap(({ name }) => foldersBelow(join(root, name)))];
}

export interface FolderWatch extends Disposable {
  /** Resolves after the next change, or at once when there was one since the last call. Also resolves when disposed. */
  changed(): Promise<void>;
}

/**
 * Waits for changes of the files in folders, not of those below them. `folders` is asked again after each change, because
 * a change can add folders.
 */
export async function watchFolders(folders: () => Promise<readonly string[]>): Promise<FolderWatch> {
  const watchers = new Map<string, FSWatcher>();
  let change = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const noticed = (name: string | null): void => {
    if (name !== null && isIgnored(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void look().finally(change.resolve), SETTLED_MS);
  };
  const look = async (): Promise<void> => {
    const wanted = new Set(await folders());
    for (const [folder, watcher] of watchers) {
      if (wanted.delete(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of isOver ? [] : wanted) {
      const watcher = watch(folder, (_, name) => noticed(name));
      // A folder that was removed; the watcher of the folder above has noticed that.
      watcher.on('error', () => watcher.close());
      watchers.set(folder, watcher);
    }
  };
  await look();
  return {
    async changed() {
      await change.promise;
      change = Promise.withResolvers();
    },
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
      change.resolve();
    },
  };
}
