import type { ExecResult, ExecutionEnvironment } from '../environment/execution-environment.ts';
import { findGitRoot } from '../files/file-access.ts';

/**
 * What the model reads about its surroundings at the start of the session (loop spec 6.3 and 6.4). It is the first message
 * on the user's side, not part of the system prompt, so that a new day or branch leaves the cached prompt valid.
 */
export async function describeEnvironment(
  environment: ExecutionEnvironment,
  { model, knowledgeCutoff }: { model: string; knowledgeCutoff?: string },
  now: number,
  signal: AbortSignal,
): Promise<string> {
  const workingDirectory = environment.workingDirectory();
  const isRepository = (await findGitRoot(environment, workingDirectory)) !== undefined;
  const git = isRepository ? await readGit(environment, signal) : undefined;
  const lines = [
    '<environment>',
    `Working directory: ${workingDirectory}`,
    `Is git repository: ${isRepository}`,
    ...(git?.branch ? [`Git branch: ${git.branch}`] : []),
    `Platform: ${environment.platform()}`,
    `OS version: ${environment.osVersion()}`,
    `Today's date: ${new Date(now).toISOString().slice(0, 10)}`,
    `Model: ${model}`,
    ...(knowledgeCutoff ? [`Knowledge cutoff: ${knowledgeCutoff}`] : []),
    '</environment>',
    ...(git ? ['<git_status>', git.status, ...git.commits, '</git_status>'] : []),
  ];
  return lines.join('\n').toWellFormed();
}

type GitSnapshot = { branch: string; status: string; commits: string[] };

/** Reading the state must not run anything that the repository configures. */
const GIT = ['git', '--no-optional-locks', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
const GIT_TIMEOUT_MS = 5_000;
const COMMITS = 10;

async function readGit(environment: ExecutionEnvironment, signal: AbortSignal): Promise<GitSnapshot> {
  const run = (...args: string[]) =>
    environment.exec([...GIT, ...args], { timeoutMs: GIT_TIMEOUT_MS, signal }).catch(() => undefined);
  const [status, log] = await Promise.all([
    run('status', '--porcelain=v1', '--branch', '--untracked-files=normal', '--ignore-submodules=all'),
    run('log', '-n', String(COMMITS), '--format=%h %s', '--no-show-signature'),
  ]);
  const [head = '', ...files] = lines(status);
  const untracked = files.filter((line) => line.startsWith('??')).length;
  const commits = lines(log);
  return {
    branch: branchName(head),
    status: `Modified files: ${files.length - untracked}, untracked: ${untracked} (at the start of the session)`,
    commits: commits.length === 0 ? [] : ['Recent commits:', ...commits.map((line) => line.slice(0, 200))],
  };
}

function lines(result: ExecResult | undefined): string[] {
  if (result?.exitCode !== 0) return [];
  return result.stdout.split('\n').filter((line) => line !== '');
}

/** From `## main...origin/main [ahead 1]` or `## No commits yet on main`. */
function branchName(head: string): string {
  const name = head.replace(/^## (?:No commits yet on |Initial commit on )?/, '');
  if (name.startsWith('HEAD (no branch)')) return '(detached)';
  return name.split('...')[0] ?? '';
}
