import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeTrees } from '@whetstone/sandbox';
import type { Placement } from './placement.ts';

/** Placement by copying: every file as a copy-on-write clone (`reflink`), or as a plain copy. */
export function copyPlacement(strategy: 'reflink' | 'copy'): Placement {
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
  await promisify(execFile)('cp', ['-a', ...clone, '--', `${source}/.`, target]);
}

/** Whether the file system of `scratch` can clone files. Found by cloning one. */
export async function reflinkWorks(scratch: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const directory = await mkdtemp(join(scratch, 'probe-'));
  try {
    await writeFile(join(directory, 'source'), 'content');
    const args = ['--reflink=always', '--', join(directory, 'source'), join(directory, 'target')];
    await promisify(execFile)('cp', args);
    return true;
  } catch {
    return false;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
