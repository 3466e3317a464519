import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { removeTrees } from '@whetstone/sandbox';
import { execa } from 'execa';
import { isPrivateMountNamespace } from './mount-namespace.ts';
import { overlayPlacement } from './overlay-placement.ts';
import type { WorkspaceStrategy } from './workspace.ts';

/** How a directory comes to hold a tree that may be changed without changing where it came from. */
export type Placement = AsyncDisposable & {
  strategy: WorkspaceStrategy;
  /**
   * Makes `target`, which does not exist yet, hold `layers` (the uppermost first). `own` is a folder that does not
   * exist either, for what the placement needs beside it. All are below the scratch folder.
   */
  place(layers: readonly string[], target: string, own: string): Promise<PlacedTree>;
  /** Removes folders below the scratch folder, in whatever state an agent left them. */
  remove(folders: readonly string[]): Promise<void>;
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
    const overlay = await overlayPlacement(scratch);
    if (overlay) return overlay;
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

async function copyTree(source: string, target: string, strategy: 'reflink' | 'copy'): Promise<void> {
  if (process.platform === 'win32') {
    await cp(source, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return;
  }
  const clone =
    process.platform === 'linux' ? [`--reflink=${strategy === 'reflink' ? 'always' : 'auto'}`] : [];
  await execa('cp', ['-a', ...clone, '--', `${source}/.`, target], { stdin: 'ignore' });
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
