import { mkdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { removeTree, removeTrees } from '@whetstone/sandbox';
import { type CommandShell, openCommandShell } from './command-shell.ts';
import { MOUNT_OPTION_SETS, type MountOptions, mountCommand } from './mount-options.ts';
import type { Placement } from './placement.ts';

/** Placement by layered mounts (overlayfs). `undefined` where they do not work, or do not behave as a folder should. */
export async function mountPlacement(scratch: string): Promise<Placement | undefined> {
  if (process.platform !== 'linux') return undefined;
  const shell = openCommandShell(scratch);
  // A second shell, so that a mount does not wait for a slow removal.
  const removals = openCommandShell(scratch);
  for (const options of MOUNT_OPTION_SETS) {
    if (await mountsBehave({ scratch, shell, options })) {
      return {
        strategy: 'mount',
        place: (layers, target, backing) => place({ scratch, shell, options }, layers, target, backing),
        remove: (folders) => remove(removals, scratch, folders),
        async [Symbol.asyncDispose]() {
          await shell[Symbol.asyncDispose]();
          await removals[Symbol.asyncDispose]();
        },
      };
    }
  }
  await shell[Symbol.asyncDispose]();
  return undefined;
}

type Mounter = { scratch: string; shell: CommandShell; options: MountOptions };

async function place(mounter: Mounter, layers: readonly string[], target: string, backing: string) {
  const { scratch, shell, options } = mounter;
  const upper = join(backing, 'upper');
  const work = join(backing, 'work');
  for (const folder of [backing, upper, work, target]) mkdirSync(folder, { recursive: true });
  const local = (folder: string) => relative(scratch, folder);
  const folders = { lower: layers.map(local), upper: local(upper), work: local(work), target: local(target) };
  await shell.run(mountCommand({ ...folders, options }));
  return { path: target, upper, detach: () => unmount(shell, local(target)), layers: [upper, ...layers] };
}

async function remove(shell: CommandShell, scratch: string, folders: readonly string[]): Promise<void> {
  await shell
    .run(['rm', '-rf', '--', ...folders.map((folder) => relative(scratch, folder))])
    .catch(() => removeTrees(folders));
}

/** A mount that is still in use is hidden (`umount -l`) and ends with its last user. */
async function unmount(shell: CommandShell, target: string): Promise<void> {
  await shell.run(['umount', '--', target]).catch(() => shell.run(['umount', '-l', '--', target]));
}

/** Does with a mount what an agent may do, and checks the result. */
async function mountsBehave(mounter: Mounter): Promise<boolean> {
  const directory = await mkdtemp(join(mounter.scratch, 'probe-'));
  try {
    const lower = join(directory, 'lower');
    await mkdir(join(lower, 'folder'), { recursive: true });
    await writeFile(join(lower, 'folder/below'), '');
    await mkdir(join(lower, 'moved'));
    const placed = await place(mounter, [lower], join(directory, 'mount'), join(directory, 'backing'));
    try {
      await rm(join(placed.path, 'folder'), { recursive: true });
      await mkdir(join(placed.path, 'folder'));
      if (mounter.options.includes('redirect_dir=on')) {
        await rename(join(placed.path, 'moved'), join(placed.path, 'here'));
      }
      return (await readdir(join(placed.path, 'folder'))).length === 0;
    } finally {
      await placed.detach();
    }
  } catch {
    // Then the next set of options, or another strategy, is tried.
    return false;
  } finally {
    await removeTree(directory);
  }
}
