import { chownSync, mkdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ownerOf, removeTree } from '@whetstone/sandbox';
import { MOUNT_OPTION_SETS, type MountOptions } from './mount-options.ts';
import { type Mounter, openMounter } from './mounter.ts';
import type { Placement } from './placement.ts';

/** Placement by layered mounts (overlayfs). `undefined` where they do not work, or do not behave as a folder should. */
export async function mountPlacement(scratch: string): Promise<Placement | undefined> {
  if (process.platform !== 'linux') return undefined;
  const mounter = openMounter(scratch);
  for (const options of MOUNT_OPTION_SETS) {
    if (await mountsBehave({ scratch, mounter, options })) {
      return {
        strategy: 'mount',
        place: (layers, target, backing) => place({ scratch, mounter, options }, layers, target, backing),
        remove: (folders, trees, disk) =>
          mounter.clear({ targets: trees.map(({ path }) => path), disk: disk?.closing(), folders }),
        [Symbol.asyncDispose]: () => mounter[Symbol.asyncDispose](),
      };
    }
  }
  await mounter[Symbol.asyncDispose]();
  return undefined;
}

type MountRequest = { scratch: string; mounter: Mounter; options: MountOptions };

async function place(
  { scratch, mounter, options }: MountRequest,
  layers: readonly string[],
  target: string,
  backing: string,
) {
  const upper = join(backing, 'upper');
  for (const folder of [backing, upper, target]) mkdirSync(folder, { recursive: true });
  // The root of the mount has the owner of this folder, as it was before.
  const owner = ownerOf(layers[0] ?? upper);
  if (owner) chownSync(upper, owner.uid, owner.gid);
  const local = (folder: string) => relative(scratch, folder);
  let mounts = 0;
  async function mount(below: readonly string[]): Promise<void> {
    mounts += 1;
    // A folder of a volatile mount cannot be used twice.
    const work = join(backing, `work-${mounts}`);
    mkdirSync(work);
    const folders = { lower: below.map(local), upper: local(upper), work: local(work) };
    await mounter.mount({ ...folders, target: local(target), options });
  }
  await mount(layers);
  return {
    ...{ path: target, upper, layers: [upper, ...layers] },
    detach: () => mounter.unmount(target),
    async mountAgain(below: readonly string[], between?: () => Promise<void>) {
      const isUnused = await mounter.unmountUnused(target).then(
        () => true,
        () => false,
      );
      if (!isUnused) return false;
      try {
        await between?.();
      } finally {
        await mount(below);
      }
      return true;
    },
  };
}

/** Does with a mount what an agent may do, and checks the result. */
async function mountsBehave(wanted: MountRequest): Promise<boolean> {
  const directory = await mkdtemp(join(wanted.scratch, 'probe-'));
  try {
    const lower = join(directory, 'lower');
    await mkdir(join(lower, 'folder'), { recursive: true });
    await writeFile(join(lower, 'folder/below'), '');
    await mkdir(join(lower, 'moved'));
    const placed = await place(wanted, [lower], join(directory, 'mount'), join(directory, 'backing'));
    try {
      await rm(join(placed.path, 'folder'), { recursive: true });
      await mkdir(join(placed.path, 'folder'));
      if (wanted.options.includes('redirect_dir=on')) {
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
