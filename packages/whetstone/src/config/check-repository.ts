import { realpath } from 'node:fs/promises';
import { execa } from 'execa';

/** What Git reports about a folder. */
export type RepositoryState =
  | { kind: 'ready' }
  | { kind: 'no-git' }
  | { kind: 'not-a-repository'; message: string }
  | { kind: 'bare' }
  | { kind: 'inside'; root: string };

/** Whether a folder is the root of a Git repository with a work tree. */
export async function inspectRepository(path: string): Promise<RepositoryState> {
  const bare = await git(path, ['rev-parse', '--is-bare-repository']);
  if (bare.kind === 'no-git') return { kind: 'no-git' };
  if (bare.kind === 'failed') return { kind: 'not-a-repository', message: bare.message };
  if (bare.output === 'true') return { kind: 'bare' };
  const root = await git(path, ['rev-parse', '--show-toplevel']);
  if (root.kind !== 'output') return { kind: 'not-a-repository', message: 'it is inside a .git folder' };
  return root.output === (await realpath(path)) ? { kind: 'ready' } : { kind: 'inside', root: root.output };
}

/** Whether a ref names a commit of the repository. */
export async function resolvesToCommit(path: string, ref: string): Promise<boolean> {
  const { kind } = await git(path, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${ref}^{commit}`,
  ]);
  return kind === 'output';
}

type GitResult =
  | { kind: 'output'; output: string }
  | { kind: 'failed'; message: string }
  | { kind: 'no-git' };

/** `GIT_DIR` and its like, set while a hook runs, would point Git at another repository. */
const NEUTRAL_ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_INDEX_FILE: undefined,
  GIT_COMMON_DIR: undefined,
  GIT_OBJECT_DIRECTORY: undefined,
  GIT_NAMESPACE: undefined,
};

async function git(path: string, args: string[]): Promise<GitResult> {
  const result = await execa('git', ['-C', path, ...args], {
    env: NEUTRAL_ENVIRONMENT,
    reject: false,
    stdin: 'ignore',
    timeout: 30_000,
  });
  if (result.code === 'ENOENT') return { kind: 'no-git' };
  if (result.exitCode === 0) return { kind: 'output', output: result.stdout };
  return { kind: 'failed', message: result.stderr.split('\n', 1)[0] ?? '' };
}
