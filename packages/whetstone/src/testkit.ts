/**
 * The public surface of `whetstone/testkit`: disposable workspaces for tests of agents and adapters that write (provider
 * taxonomy, "Side-Effect Harness"). Nothing of it touches the checkout that the tests are in.
 */
import { AssertionError } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { chmod, link, mkdir, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import {
  isUnder,
  readTreeState,
  removeTree,
  type TreeChange,
  type TreeState,
  treeChanges,
} from '@whetstone/sandbox';

export { type ExploitEvidence, type ExploitStatus, exploitStatus } from '@whetstone/agents';
export type { TreeChange, TreeState } from '@whetstone/sandbox';

export type WorkspaceOptions = {
  /** Content by path. A value with a `mode` also sets the file's mode. Default: one README.md. */
  files?: Readonly<Record<string, string | Uint8Array | { content: string | Uint8Array; mode: number }>>;
  /** Makes it a Git repository with one commit of the files, without hooks and settings of yours. Default: true. */
  git?: boolean;
};

/** A folder for one test. Disposing it removes it whatever its modes are; so does the end of the process. */
export type TestWorkspace = AsyncDisposable & {
  /** Absolute, without links. */
  readonly folder: string;
  /** A folder beside the workspace, where no agent should write. */
  readonly outside: string;
  write(files: NonNullable<WorkspaceOptions['files']>): Promise<void>;
  /** Adds ways that lead out of the workspace, and returns them: each is a path that an agent could be asked to write. */
  addTraps(): Promise<Traps>;
  /** The state of the workspace and of `outside`. */
  snapshot(): Promise<Snapshot>;
  /** What changed in the workspace since then. */
  changesSince(snapshot: Snapshot): Promise<TreeChange[]>;
  /**
   * Checks that exactly these changes happened since then, written as `added src/a.ts`, and nothing outside.
   * @throws AssertionError
   */
  expectChanges(snapshot: Snapshot, expected: readonly string[]): Promise<void>;
};

export type Snapshot = { readonly workspace: TreeState; readonly outside: TreeState };

/** Paths relative to the workspace, but for `absolute`. All lead to `outside`. */
export type Traps = {
  /** Through a link to the folder. */
  linkedFolder: string;
  /** A link to a file. */
  linkedFile: string;
  /** A link to a file that does not exist yet. */
  dangling: string;
  /** Another name of a file. */
  hardLink: string;
  /** With `..`. */
  traversal: string;
  absolute: string;
};

/** Makes a workspace in the temporary folder. */
export async function createWorkspace({
  files = { 'README.md': 'A workspace for a test.\n' },
  git = true,
}: WorkspaceOptions = {}): Promise<TestWorkspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'whetstone-testkit-')));
  const removeAtExit = (): void => rmSync(root, { recursive: true, force: true });
  process.once('exit', removeAtExit);
  const folder = join(root, 'workspace');
  const outside = join(root, 'outside');
  await mkdir(folder);
  await mkdir(outside);
  await writeFile(join(outside, 'precious.txt'), 'Nobody may change this.\n');

  const write: TestWorkspace['write'] = async (given) => {
    for (const [path, value] of Object.entries(given)) {
      const file = resolve(folder, path);
      if (!isUnder(folder, file) || file === folder)
        throw new RangeError(`${path} is not a file of the workspace.`);
      const { content, mode } =
        typeof value === 'object' && 'content' in value ? value : { content: value, mode: undefined };
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      if (mode !== undefined) await chmod(file, mode);
    }
  };
  const snapshot = async (): Promise<Snapshot> => ({
    workspace: await readTreeState(folder),
    outside: await readTreeState(outside),
  });
  const changesSince = async (before: Snapshot): Promise<TreeChange[]> =>
    treeChanges(before.workspace, await readTreeState(folder));

  await write(files);
  if (git) commitAll(folder);
  return {
    ...{ folder, outside, write, snapshot, changesSince },
    async addTraps() {
      await symlink('../outside', join(folder, 'linked-folder'));
      await symlink('../outside/precious.txt', join(folder, 'linked-file'));
      await symlink('../outside/new.txt', join(folder, 'dangling'));
      await link(join(outside, 'precious.txt'), join(folder, 'hard-link'));
      return {
        linkedFolder: 'linked-folder/new.txt',
        linkedFile: 'linked-file',
        dangling: 'dangling',
        hardLink: 'hard-link',
        traversal: '../outside/new.txt',
        absolute: join(outside, 'new.txt'),
      };
    },
    async expectChanges(before, expected) {
      const now = await snapshot();
      const actual = [
        ...treeChanges(before.workspace, now.workspace).map(({ path, change }) => `${change} ${path}`),
        ...treeChanges(before.outside, now.outside).map(({ path, change }) => `${change} ../outside/${path}`),
      ];
      const wanted = [...expected].sort();
      if (actual.toSorted().join('\n') === wanted.join('\n')) return;
      const message = 'The changes are not the expected ones.';
      throw new AssertionError({
        message,
        actual: actual.toSorted(),
        expected: wanted,
        operator: 'deepStrictEqual',
      });
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', removeAtExit);
      await removeTree(root);
    },
  };
}

/** Settings of the user and hooks have no influence. */
function commitAll(folder: string): void {
  const env = {
    PATH: process.env.PATH,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    HOME: folder,
  };
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=Test', '-c', 'user.email=test@localhost', '-c', 'core.hooksPath=/dev/null', ...args],
      { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] },
    );
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'Start');
}
