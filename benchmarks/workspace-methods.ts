import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createWorkspaces } from '../packages/whetstone/src/workspace/create-workspaces.ts';
import { git } from './make-repository.ts';

/** A way to give a case a tree of its own and to say afterwards what changed in it. */
export type WorkspaceMethod = {
  name: string;
  /** What is done once a commit; absent where there is nothing to do. */
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

/** Where a method reads from and may write: `folder` is its own. */
type Place = { repository: string; commit: string; folder: string };

export async function ourWorkspaces(strategy: 'mount' | 'copy', place: Place): Promise<WorkspaceMethod> {
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

/** `git worktree add`, in a clone of its own, because it writes into the repository. */
export function gitWorktree({ repository, commit, folder }: Place): WorkspaceMethod {
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

export function sharedClone({ repository, folder }: Place): WorkspaceMethod {
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

/** The patch as a script on top of git takes it: by the index of the tree itself. */
function stageAndDiff(path: string): number {
  git(path, 'add', '--all');
  const patch = git(path, 'diff', '--cached', '--binary', 'HEAD');
  return patch.split('\n').filter((line) => line.startsWith('diff --git ')).length;
}

/** Disk used below `folder`, bytes; what is mounted there does not count. */
export function diskUsed(folder: string): number {
  const [size = ''] = execFileSync('du', ['-sx', '--block-size=1', folder], { encoding: 'utf8' }).split('\t');
  return Number(size);
}
