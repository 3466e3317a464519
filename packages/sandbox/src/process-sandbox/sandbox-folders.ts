import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { lstat, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { removeTree } from '../files/remove-tree.ts';
import type { SandboxFolders } from './scrubbed-environment.ts';

/** Commits need an author, and the tests of a task may commit. The name identifies nobody. */
const GIT_CONFIG =
  '[user]\n\tname = Developer\n\temail = developer@localhost\n[init]\n\tdefaultBranch = main\n';

/**
 * Makes the private folders of one sandbox under `scratch`, with names that say nothing about the case. It is
 * synchronous, because a promise per folder costs more than making the folder.
 */
export function makeSandboxFolders(scratch: string): SandboxFolders & { root: string } {
  const root = join(scratch, randomUUID().slice(0, 13));
  const folders = { home: join(root, 'home'), temporary: join(root, 'tmp'), runtime: join(root, 'run') };
  // The other XDG folders are below HOME. Programs make them when they need them, as their specification says.
  for (const folder of [root, ...Object.values(folders)]) mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folders.home, '.gitconfig'), GIT_CONFIG);
  return { root, ...folders };
}

/** Removes what `makeSandboxFolders` made, whatever the sandbox's commands did in it. */
export async function removeSandboxFolders(folders: SandboxFolders & { root: string }): Promise<void> {
  if (await removedAsMade(folders)) return;
  await removeTree(folders.root).catch((cause: Error) => {
    throw new WhetstoneError(
      'sandbox-cleanup-failed',
      'The temporary folder of a sandbox cannot be removed.',
      { where: folders.root, cause },
    );
  });
}

/**
 * Removes the folders without walking a tree; most commands leave nothing in them. Not synchronously: it waits for the
 * kernel's lock of mounts, which other cases hold.
 */
async function removedAsMade({
  root,
  home,
  temporary,
  runtime,
}: SandboxFolders & { root: string }): Promise<boolean> {
  try {
    if (!(await lstat(home)).isDirectory()) return false; // a link in its place leads elsewhere
    await unlink(join(home, '.gitconfig'));
    for (const folder of [home, temporary, runtime, root]) await rmdir(folder);
    return true;
  } catch {
    return false;
  }
}
