import { constants, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { removeTrees } from '@whetstone/sandbox';
import { copyTree } from './copy-tree.ts';
import { isPrivateMountNamespace } from './mount-namespace.ts';
import { mountPlacement } from './mount-placement.ts';
import type { Placement } from './placement.ts';
import type { WorkspaceStrategy } from './workspace.ts';

/**
 * `auto` takes the best strategy that works: layered mounts, if they vanish with this process (a private mount
 * namespace), else copy-on-write clones, else copies. `shared` does without mounts, which no other process would see. A strategy that is named is used, or it is an error.
 */
export async function choosePlacement(
  scratch: string,
  wanted: 'auto' | 'shared' | WorkspaceStrategy,
): Promise<Placement> {
  if (wanted === 'mount' || (wanted === 'auto' && isPrivateMountNamespace())) {
    const mounts = await mountPlacement(scratch);
    if (mounts) return mounts;
  }
  const isChosen = wanted === 'auto' || wanted === 'shared';
  if (wanted === 'reflink' || isChosen) {
    if (await reflinkWorks(scratch)) return copyPlacement('reflink');
  }
  if (wanted === 'copy' || isChosen) return copyPlacement('copy');
  const message = `The workspace strategy ${wanted} does not work here.`;
  const hint = HINTS[wanted];
  throw new WhetstoneError('workspace-strategy-unavailable', message, { where: scratch, hint });
}

const HINTS = {
  mount:
    'Layered mounts need Linux, root or user namespaces, and a scratch folder that is not itself on overlayfs.',
  reflink:
    'Copy-on-write clones need btrfs, xfs or another file system that has them under the scratch folder.',
};

/** Placement by copying: every file as a copy-on-write clone (`reflink`), or as a plain copy. */
function copyPlacement(strategy: 'reflink' | 'copy'): Placement {
  return {
    strategy,
    async place(layers, target) {
      const [source] = layers;
      if (source === undefined || layers.length !== 1) throw new Error('a copy has exactly one source');
      await mkdir(target, { recursive: true });
      await copyTree(source, target, strategy);
      return { path: target, detach: async () => {}, layers: [target] };
    },
    remove: removeTrees,
    async [Symbol.asyncDispose]() {},
  };
}

/** Whether the file system of `scratch` can clone files. Found by cloning one. */
async function reflinkWorks(scratch: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const directory = await mkdtemp(join(scratch, 'probe-'));
  try {
    await writeFile(join(directory, 'source'), 'content');
    const clone = constants.COPYFILE_FICLONE_FORCE;
    await copyFile(join(directory, 'source'), join(directory, 'target'), clone);
    return true;
  } catch {
    return false;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
