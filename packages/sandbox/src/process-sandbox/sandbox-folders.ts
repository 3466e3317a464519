import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { lstat, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { removeTree } from '../files/remove-tree.ts';
import type { Hiding } from './containment.ts';
import type { SandboxFolders } from './scrubbed-environment.ts';

/** Commits need an author, and the tests of a task may commit. The name identifies nobody. */
const GIT_CONFIG =
  '[user]\n\tname = Developer\n\temail = developer@localhost\n[init]\n\tdefaultBranch = main\n';

/**
 * Makes the private folders of one sandbox: below the folder around its workspace if that is a folder of `scratch`, else
 * below `scratch` itself. Their names say nothing about the case. It is synchronous, because a promise per folder costs
 * more than making the folder. `canHide`: whether commands can be kept from seeing what else is in `scratch`.
 */
export function makeSandboxFolders(scratch: string, workdir: string, canHide: boolean): OwnFolders {
  const around = dirname(workdir);
  const own = dirname(around) === scratch ? around : undefined;
  const root = join(own ?? scratch, shortName());
  const folders = { home: join(root, 'home'), temporary: join(root, 'tmp'), runtime: join(root, 'run') };
  // The other XDG folders are below HOME. Programs make them when they need them, as their specification says.
  for (const folder of [root, ...Object.values(folders)]) mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folders.home, '.gitconfig'), GIT_CONFIG);
  if (own === undefined || !canHide) return { root, ...folders };
  const view = join(scratch, shortName());
  for (const folder of [view, join(view, basename(own))]) mkdirSync(folder);
  return { root, ...folders, hiding: { common: scratch, own, view } };
}

export type OwnFolders = SandboxFolders & {
  root: string;
  /** Absent: nothing can be hidden. */
  hiding?: Hiding;
};

const shortName = (): string => randomUUID().slice(0, 13);

/** Removes what `makeSandboxFolders` made, whatever the sandbox's commands did in it. */
export async function removeSandboxFolders(folders: OwnFolders): Promise<void> {
  if (folders.hiding) await removeView(folders.hiding);
  if (await removedAsMade(folders)) return;
  await removeTree(folders.root).catch((cause: Error) => {
    throw new WhetstoneError(
      'sandbox-cleanup-failed',
      'The temporary folder of a sandbox cannot be removed.',
      { where: folders.root, cause },
    );
  });
}

/** Only this process can write there. */
async function removeView({ view, own }: Hiding): Promise<void> {
  for (const folder of [join(view, basename(own)), view]) await rmdir(folder);
}

/**
 * Removes the folders without walking a tree; most commands leave nothing in them. Not synchronously: it waits for the
 * kernel's lock of mounts, which other cases hold.
 */
async function removedAsMade({ root, home, temporary, runtime }: OwnFolders): Promise<boolean> {
  try {
    if (!(await lstat(home)).isDirectory()) return false; // a link in its place leads elsewhere
    await unlink(join(home, '.gitconfig'));
    for (const folder of [home, temporary, runtime, root]) await rmdir(folder);
    return true;
  } catch {
    return false;
  }
}
