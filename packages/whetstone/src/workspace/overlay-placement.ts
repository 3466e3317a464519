import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { removeTree, removeTrees } from '@whetstone/sandbox';
import { type CommandShell, openCommandShell } from './command-shell.ts';
import { mountCommand, OVERLAY_OPTION_SETS, type OverlayOptions } from './mount-options.ts';
import type { PlacedTree, Placement } from './placement.ts';

/** Placement by overlay mounts, where they work on the file system of `scratch` and behave as a folder should. */
export async function overlayPlacement(scratch: string): Promise<Placement | undefined> {
  if (process.platform !== 'linux') return undefined;
  const shell = openCommandShell(scratch);
  // Removing may take long, and a mount should not wait for it.
  const removals = openCommandShell(scratch);
  for (const options of OVERLAY_OPTION_SETS) {
    if (await mountsBehave({ scratch, shell, options })) {
      return {
        strategy: 'overlay',
        place: (layers, target, own) => place({ scratch, shell, options }, layers, target, own),
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

type Mounter = { scratch: string; shell: CommandShell; options: OverlayOptions };

async function place(
  { scratch, shell, options }: Mounter,
  layers: readonly string[],
  target: string,
  own: string,
): Promise<PlacedTree> {
  const upper = join(own, 'upper');
  const work = join(own, 'work');
  await Promise.all([upper, work, target].map((folder) => mkdir(folder, { recursive: true })));
  const local = (folder: string) => relative(scratch, folder);
  await shell.run(
    mountCommand({
      lower: layers.map(local),
      upper: local(upper),
      work: local(work),
      target: local(target),
      options,
    }),
  );
  return { path: target, upper, detach: () => unmount(shell, local(target)), layers: [upper, ...layers] };
}

async function remove(shell: CommandShell, scratch: string, folders: readonly string[]): Promise<void> {
  await shell
    .run(['rm', '-rf', '--', ...folders.map((folder) => relative(scratch, folder))])
    .catch(() => removeTrees(folders));
}

/** Where something still holds the mount, it is taken out of sight and ends with its last holder. */
async function unmount(shell: CommandShell, target: string): Promise<void> {
  await shell.run(['umount', '--', target]).catch(() => shell.run(['umount', '-l', '--', target]));
}

/** Does with a mount what an agent may do, and looks whether the result is right. */
async function mountsBehave(mounter: Mounter): Promise<boolean> {
  const directory = await mkdtemp(join(mounter.scratch, 'probe-'));
  try {
    const lower = join(directory, 'lower');
    await mkdir(join(lower, 'folder'), { recursive: true });
    await writeFile(join(lower, 'folder/below'), '');
    await mkdir(join(lower, 'moved'));
    const placed = await place(mounter, [lower], join(directory, 'mount'), join(directory, 'own'));
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
    // The next set of options, or another strategy.
    return false;
  } finally {
    await removeTree(directory);
  }
}
