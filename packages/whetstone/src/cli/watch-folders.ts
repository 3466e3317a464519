import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '@whetstone/errors';

/** A save is several events of the file system. */
const SETTLED_MS = 50;

const isIgnored = (name: string): boolean => name === 'node_modules' || name.startsWith('.');

/** A folder and those below it, without installed packages and what begins with a dot. None if it is not there. */
export function foldersBelow(root: string): string[] {
  const entries = unlessGone(() => readdirSync(root, { withFileTypes: true }));
  if (!entries) return [];
  const below = entries.filter((entry) => entry.isDirectory() && !isIgnored(entry.name));
  return [root, ...below.flatMap(({ name }) => foldersBelow(join(root, name)))];
}

/** Some file systems give the number of a removed folder to the next one. */
function identityOf(folder: string): string {
  const { ino, birthtimeNs } = statSync(folder, { bigint: true });
  return `${ino} ${birthtimeNs}`;
}

/** `undefined` where the folder was removed in the meantime. */
function unlessGone<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
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
  /** By path. The watcher of a folder that was removed and made again, which has another `identity`, hears nothing. */
  const watchers = new Map<string, { watcher: FSWatcher; identity: string }>();
  let change = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const noticed = (name: string | null): void => {
    if (name !== null && isIgnored(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void look().then(change.resolve, failed), SETTLED_MS);
  };
  const failed = (error: unknown): void => {
    // A folder was removed while it was read.
    if (codeOf(error) === 'ENOENT' && !isOver) noticed(null);
    else change.reject(error);
  };
  const look = async (): Promise<void> => {
    const wanted = new Map<string, string>();
    for (const folder of new Set(await folders())) {
      const identity = unlessGone(() => identityOf(folder));
      if (identity !== undefined) wanted.set(folder, identity);
    }
    for (const [folder, { watcher, identity }] of watchers) {
      if (wanted.get(folder) === identity) {
        wanted.delete(folder);
        continue;
      }
      watcher.close();
      watchers.delete(folder);
    }
    for (const [folder, identity] of isOver ? [] : wanted) {
      const watcher = unlessGone(() => watch(folder, (_, name) => noticed(name)));
      // A folder that was removed; the watcher of the folder above has noticed that.
      watcher?.on('error', () => watcher.close());
      if (watcher) watchers.set(folder, { watcher, identity });
    }
  };
  await look();
  return {
    async changed() {
      await change.promise;
      change = Promise.withResolvers();
      change.promise.catch(() => undefined); // reported by the next call
    },
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      for (const { watcher } of watchers.values()) watcher.close();
      change.resolve();
    },
  };
}
