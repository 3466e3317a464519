import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { execa } from 'execa';
import { WhetstoneError } from '../error.ts';
import { mountOverlay, OVERLAY_OPTION_SETS, type OverlayOptions, unmount } from './mount.ts';
import { isPrivateMountNamespace } from './mount-namespace.ts';
import { removeTree } from './remove-tree.ts';
import type { WorkspaceStrategy } from './workspace.ts';

/** How a directory comes to hold a tree that may be changed without changing where it came from. */
export type Placement = {
  strategy: WorkspaceStrategy;
  /**
   * Makes `target`, which does not exist yet, hold `layers` (the uppermost first). `own` is a folder that does not
   * exist either, for what the placement needs beside it. All are below the scratch folder.
   */
  place(layers: readonly string[], target: string, own: string): Promise<PlacedTree>;
};

export type PlacedTree = {
  path: string;
  /** Holds every change to the tree and nothing else, where the strategy has such a folder. */
  upper?: string;
  /** Ends the mount, if there is one. What was written stays: it is in `layers`. */
  detach(): Promise<void>;
  /** What another `place` takes to get this tree as it is now. Not before `detach`. */
  layers: readonly string[];
};

/**
 * `auto` takes the best that works: overlay mounts only where they vanish with this process (a private mount
 * namespace), else copy-on-write clones, else copies. A strategy asked for by name is that one or an error.
 */
export async function choosePlacement(
  scratch: string,
  wanted: 'auto' | WorkspaceStrategy,
): Promise<Placement> {
  if (wanted === 'overlay' || (wanted === 'auto' && isPrivateMountNamespace())) {
    const options = await probeOverlay(scratch);
    if (options) return overlayPlacement(scratch, options);
  }
  if (wanted === 'reflink' || wanted === 'auto') {
    if (await probeReflink(scratch)) return copyPlacement('reflink');
  }
  if (wanted === 'copy' || wanted === 'auto') return copyPlacement('copy');
  throw new WhetstoneError('workspace.strategy-unavailable', `the strategy ${wanted} does not work here`, {
    where: scratch,
    hint: HINTS[wanted],
    exitCode: 2,
  });
}

const HINTS = {
  overlay:
    'Overlay mounts need Linux, root or user namespaces, and a scratch folder that is not itself on an overlay.',
  reflink:
    'Copy-on-write clones need btrfs, xfs or another file system that has them under the scratch folder.',
};

function overlayPlacement(scratch: string, options: OverlayOptions): Placement {
  return {
    strategy: 'overlay',
    async place(layers, target, own) {
      const upper = join(own, 'upper');
      const work = join(own, 'work');
      await Promise.all([upper, work, target].map((folder) => mkdir(folder, { recursive: true })));
      const [lower, [upperdir, workdir, mountpoint]] = [layers, [upper, work, target]].map((folders) =>
        folders.map((folder) => relative(scratch, folder)),
      ) as [string[], [string, string, string]];
      await mountOverlay({
        cwd: scratch,
        lower,
        upper: upperdir,
        work: workdir,
        target: mountpoint,
        options,
      });
      return { path: target, upper, detach: () => unmount(target), layers: [upper, ...layers] };
    },
  };
}

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
  };
}

async function copyTree(source: string, target: string, strategy: 'reflink' | 'copy'): Promise<void> {
  const clone =
    process.platform === 'linux' ? [`--reflink=${strategy === 'reflink' ? 'always' : 'auto'}`] : [];
  await execa('cp', ['-a', ...clone, '--', `${source}/.`, target], { stdin: 'ignore' });
}

/** Does with a mount what an agent may do, and looks whether the result is right. */
async function probeOverlay(scratch: string): Promise<OverlayOptions | undefined> {
  if (process.platform !== 'linux') return undefined;
  for (const options of OVERLAY_OPTION_SETS) {
    const directory = await mkdtemp(join(scratch, 'probe-'));
    try {
      if (await mountBehaves(scratch, directory, options)) return options;
    } catch {
      // The next set of options, or the next strategy.
    } finally {
      await removeTree(directory);
    }
  }
  return undefined;
}

async function mountBehaves(scratch: string, directory: string, options: OverlayOptions): Promise<boolean> {
  const lower = join(directory, 'lower');
  await mkdir(join(lower, 'folder'), { recursive: true });
  await writeFile(join(lower, 'folder/below'), '');
  await mkdir(join(lower, 'moved'));
  const { path, detach } = await overlayPlacement(scratch, options).place(
    [lower],
    join(directory, 'mount'),
    join(directory, 'own'),
  );
  try {
    await rm(join(path, 'folder'), { recursive: true });
    await mkdir(join(path, 'folder'));
    if (!options.includes('userxattr')) await rename(join(path, 'moved'), join(path, 'here'));
    return (await readdir(join(path, 'folder'))).length === 0;
  } finally {
    await detach();
  }
}

async function probeReflink(scratch: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const directory = await mkdtemp(join(scratch, 'probe-'));
  try {
    await writeFile(join(directory, 'source'), 'content');
    const args = ['--reflink=always', '--', join(directory, 'source'), join(directory, 'target')];
    return !(await execa('cp', args, { reject: false, stdin: 'ignore' })).failed;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
