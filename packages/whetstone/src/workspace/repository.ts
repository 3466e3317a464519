import { cp, lstat, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { briefFolder } from '@whetstone/sandbox/files';
import { distance } from 'fastest-levenshtein';
import { GitError, git } from './git.ts';
import { formatOf, makeGitDirectory } from './git-directory.ts';
import { rememberTree } from './known-trees.ts';

/** Where the parts of the user's repository are. The repository is only read. */
export type Repository = {
  workTree: string;
  /** The folder with HEAD and the index of this work tree. */
  gitDir: string;
  /** The folder with refs and objects, which all work trees share. The same folder, except for a linked work tree. */
  commonDir: string;
  objects: string;
};

/**
 * Inspects a repository without changing it. `dirty`: tracked files are changed or untracked ones exist (not ignored
 * files or submodules, and nothing at the paths `own`), or the index cannot be read. `head`: `null` while the branch has
 * no commit.
 */
export async function inspectRepo(path: string, own: readonly string[] = []) {
  const repository = await openRepository(path);
  const head = await lookUp(repository, 'HEAD');
  return { gitDir: repository.gitDir, dirty: await isDirty(repository, head, own), head };
}

/**
 * The id of the commit that `ref` names, with all of git's revision syntax. Throws a `WhetstoneError` (exit code 2):
 * `repo-without-commit`, `repo-ref-unknown`, and those of `openRepository`.
 */
export async function resolveCommit(path: string, ref: string): Promise<string> {
  const repository = await openRepository(path);
  const commit = await lookUp(repository, ref);
  if (commit !== null) return commit;
  const head = ref === 'HEAD' ? commit : await lookUp(repository, 'HEAD');
  if (head === null && (await listRefs(repository)).length === 0) {
    throw new WhetstoneError('repo-without-commit', 'The repository has no commit yet.', {
      where: repository.workTree,
    });
  }
  throw new WhetstoneError('repo-ref-unknown', `No commit is named ${JSON.stringify(ref)}.`, {
    where: repository.workTree,
    hint: await suggestRef(repository, ref),
  });
}

/**
 * Finds the repository that `path` is in, without git's discovery, which refuses a repository of another owner: that
 * protects whoever runs its hooks, and nothing here does.
 * @throws WhetstoneError `repo-missing`, `repo-not-git`, `repo-bare`
 */
export async function openRepository(path: string): Promise<Repository> {
  const start = resolve(path);
  const found = await stat(start).catch(() => undefined);
  if (!found?.isDirectory()) {
    const message = found
      ? 'The repository is not a folder.'
      : 'The folder of the repository does not exist.';
    throw new WhetstoneError('repo-missing', message, { where: start });
  }
  for (let folder = start; ; folder = dirname(folder)) {
    const gitDir = await gitDirOf(join(folder, '.git'));
    if (gitDir !== undefined) return describeRepository(folder, gitDir);
    if (await isGitDir(folder)) {
      if (basename(folder) === '.git') return describeRepository(dirname(folder), folder);
      throw new WhetstoneError('repo-bare', 'The repository is bare: it has no files to work on.', {
        where: folder,
        hint: `Clone it and name the clone: git clone ${JSON.stringify(folder)}`,
      });
    }
    if (dirname(folder) === folder) break;
  }
  throw new WhetstoneError('repo-not-git', 'The folder is not a Git repository.', {
    where: start,
    hint: 'Name another folder, or make it a repository: git init && git add -A && git commit',
  });
}

/** `.git` is a folder, or a file that names one (linked work trees, submodules). */
async function gitDirOf(dotGit: string): Promise<string | undefined> {
  const found = await stat(dotGit).catch(() => undefined);
  if (found?.isDirectory()) return (await isGitDir(dotGit)) ? dotGit : undefined;
  if (!found?.isFile()) return undefined;
  const target = /^gitdir: (.*)$/m.exec(await readFile(dotGit, 'utf8'))?.[1];
  return target === undefined ? undefined : resolve(dirname(dotGit), target);
}

/** One by one, because a folder above a repository can have very many entries. */
async function isGitDir(folder: string): Promise<boolean> {
  for (const name of ['HEAD', 'objects', 'refs']) {
    const isThere = await lstat(join(folder, name)).then(
      () => true,
      () => false,
    );
    if (!isThere) return false;
  }
  return true;
}

async function describeRepository(workTree: string, gitDir: string): Promise<Repository> {
  const commonDirFile = await readFile(join(gitDir, 'commondir'), 'utf8').catch(() => '.');
  const commonDir = resolve(gitDir, commonDirFile.trimEnd());
  return { workTree, gitDir, commonDir, objects: join(commonDir, 'objects') };
}

/** The commit that a revision names; `null` when there is none. Rejects when git cannot read the repository at all. */
async function lookUp(repository: Repository, revision: string): Promise<string | null> {
  if (/[\0\n]/.test(revision)) return null;
  const call = { gitDir: repository.gitDir, cwd: repository.workTree, input: `${revision}^{commit}\n` };
  const answer = await git(['cat-file', '--batch'], call).catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error;
    throw new WhetstoneError('repo-unreadable', error.message, { where: repository.gitDir, cause: error });
  });
  const [, commit, tree] =
    /^([0-9a-f]+) commit \d+\n(?:tree ([0-9a-f]+)\n)?/.exec(answer.toString('latin1')) ?? [];
  if (commit !== undefined && tree !== undefined) rememberTree(commit, tree);
  return commit ?? null;
}

async function listRefs(repository: Repository): Promise<string[]> {
  const format = '--format=%(refname:lstrip=2)';
  const call = { gitDir: repository.gitDir, cwd: repository.workTree };
  const output = await git(['for-each-ref', format, 'refs/heads', 'refs/tags', 'refs/remotes'], call);
  return output.toString().split('\n').filter(Boolean);
}

async function suggestRef(repository: Repository, ref: string): Promise<string> {
  const refs = await listRefs(repository);
  const near = refs
    .map((name) => ({ name, edits: distance(name, ref) }))
    .filter(({ edits }) => edits <= Math.max(ref.length / 3, Math.min(2, ref.length / 2)))
    .sort((a, b) => a.edits - b.edits);
  if (near[0]) return `Did you mean ${near[0].name}?`;
  const some = refs.slice(0, 5).join(', ') + (refs.length > 5 ? ', …' : '');
  return `Known: ${some || 'none'}. A commit that is only on a remote needs \`git fetch\` first.`;
}

/**
 * Runs `git status` with our own git directory and a copy of the index, so that no filter or monitor of the user runs.
 */
async function isDirty(
  repository: Repository,
  head: string | null,
  own: readonly string[],
): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), briefFolder()));
  try {
    makeGitDirectory(directory, {
      format: formatOf(head ?? ''),
      alternates: [repository.objects],
      ...(head === null ? {} : { head }),
    });
    await copyIndex(repository.gitDir, directory);
    // Converting line endings is the only safe conversion. Without it every file of a Windows checkout is changed.
    await rm(join(directory, 'info/attributes'));
    const exclude = ['-c', `core.excludesFile=${join(repository.commonDir, 'info/exclude')}`];
    const options = ['--porcelain', '-z', '--ignore-submodules=all', '--no-renames', '--untracked-files=all'];
    const call = { gitDir: directory, workTree: repository.workTree };
    const below = own
      .map((path) => relative(repository.workTree, path))
      .filter((path) => !/^(\.\.(\/|$)|$)/.test(path));
    const paths = ['--', ':(top)', ...below.map((path) => `:(top,literal,exclude)${path}`)];
    return (await git([...exclude, 'status', ...options, ...paths], call)).length > 0;
  } catch (error) {
    if (error instanceof GitError) return true;
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Copies files with their times, because git compares them with the time of the index. */
async function copyIndex(gitDir: string, directory: string): Promise<void> {
  const names = (await readdir(gitDir)).filter((name) => name === 'index' || name.startsWith('sharedindex.'));
  for (const name of names) {
    await cp(join(gitDir, name), join(directory, name), { preserveTimestamps: true });
  }
}
