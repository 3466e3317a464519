import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { codeOf } from '@whetstone/errors';

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

/** Asks Git about the repository at a path. Changes nothing. */
export async function askGit(path: string, args: string[]): Promise<GitResult> {
  const options = { env: { ...process.env, ...NEUTRAL_ENVIRONMENT }, timeout: 30_000, maxBuffer: 2 ** 29 };
  try {
    const { stdout } = await promisify(execFile)('git', ['-C', path, ...args], options);
    return { kind: 'output', output: stdout.replace(/\n$/, '') };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { kind: 'no-git' };
    const [message = ''] = (error as { stderr: string }).stderr.split('\n', 1);
    return { kind: 'failed', message };
  }
}
