import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createWorkspaces } from '../packages/whetstone/src/workspace/create-workspaces.ts';
import { git } from './make-repository.ts';

/** A way to give a case its own tree, and to find afterwards what changed in it. */
export type WorkspaceMethod = {
  name: string;
  /** Work that is done once per commit. */
  prepare?(): Promise<void>;
  create(): Promise<MethodTree>;
  close(): Promise<void>;
};

export type MethodTree = {
  path: string;
  /** Makes the patch; resolves with the number of files in it. */
  changes(): Promise<number>;
  dispose(): Promise<void>;
};

/** The source of a method, and the folder that it may write to. */
type Checkout = { repository: string; commit: string; folder: string };

export async function ourWorkspaces(strategy: 'mount' | 'copy', place: Checkout): Promise<WorkspaceMethod> {
  const workspaces = await createWorkspaces({ repo: place.repository, scratch: place.folder, strategy });
  return {
    name: `whetstone, ${strategy}`,
    async prepare() {
      await workspaces.prepare(place.commit, []);
    },
    async create() {
      const workspace = await workspaces.create(await workspaces.prepare(place.commit, []));
      return {
        path: workspace.path,
        changes: async () => (await workspace.changes()).files.length,
        dispose: async () => workspace[Symbol.asyncDispose](),
      };
    },
    close: async () => workspaces[Symbol.asyncDispose](),
  };
}

/** `git worktree add` in a separate clone, because it writes into the repository. */
export function gitWorktree({ repository, commit, folder }: Checkout): WorkspaceMethod {
  const source = join(folder, 'source');
  git(folder, 'clone', '--quiet', '--no-checkout', '--no-hardlinks', repository, source);
  return {
    name: '`git worktree add`',
    async create() {
      const path = join(folder, 'tree');
      git(source, 'worktree', 'add', '--quiet', '--detach', path, commit);
      return {
        path,
        changes: async () => stageAndDiff(path),
        dispose: async () => {
          git(source, 'worktree', 'remove', '--force', path);
        },
      };
    },
    close: async () => {},
  };
}

export function sharedClone({ repository, folder }: Checkout): WorkspaceMethod {
  return {
    name: '`git clone --shared`',
    async create() {
      const path = join(folder, 'clone');
      git(folder, 'clone', '--quiet', '--shared', repository, path);
      return {
        path,
        changes: async () => stageAndDiff(path),
        dispose: () => rm(path, { recursive: true, force: true }),
      };
    },
    close: async () => {},
  };
}

/** The patch as a script on top of git would make it: with the index of the tree itself. */
function stageAndDiff(path: string): number {
  git(path, 'add', '--all');
  const patch = git(path, 'diff', '--cached', '--binary', 'HEAD');
  return patch.split('\n').filter((line) => line.startsWith('diff --git ')).length;
}

/** Disk use of `folder` in bytes, without what is mounted there. */
export function diskUsed(folder: string): number {
  const [size = ''] = execFileSync('du', ['-sx', '--block-size=1', folder], { encoding: 'utf8' }).split('\t');
  return Number(size);
}
