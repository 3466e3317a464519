import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { promisify } from 'node:util';
import { codeOf } from '@whetstone/errors';

/** Why a folder is not the root of a Git repository with a work tree, and what to do; `undefined` if it is. */
export async function repositoryProblem(
  path: string,
): Promise<{ message: string; hint: string } | undefined> {
  const bare = await git(path, ['rev-parse', '--is-bare-repository']);
  if (bare.kind === 'no-git') {
    return { message: 'git is not installed', hint: 'install git and put it on the PATH' };
  }
  if (bare.kind === 'failed') return notRepository(bare.message);
  if (bare.output === 'true') {
    return { message: 'is a bare Git repository', hint: 'clone it, and point repo.path at the clone' };
  }
  const root = await git(path, ['rev-parse', '--show-toplevel']);
  if (root.kind !== 'output') return notRepository('it is inside a .git folder');
  if (root.output === (await realpath(path))) return undefined;
  const message = `is a folder inside the repository ${root.output}`;
  return { message, hint: `set repo.path to ${root.output}` };
}

const notRepository = (why: string) => ({
  message: `is not a Git repository (${why})`,
  hint: 'run git init and commit, or point repo.path elsewhere',
});

/** Whether a ref names a commit of the repository. */
export async function resolvesToCommit(path: string, ref: string): Promise<boolean> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  return (await git(path, args)).kind === 'output';
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
  const options = { env: { ...process.env, ...NEUTRAL_ENVIRONMENT }, timeout: 30_000 };
  try {
    const { stdout } = await promisify(execFile)('git', ['-C', path, ...args], options);
    return { kind: 'output', output: stdout.replace(/\n$/, '') };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { kind: 'no-git' };
    const [message = ''] = (error as { stderr: string }).stderr.split('\n', 1);
    return { kind: 'failed', message };
  }
}
