import { present } from '@whetstone/events/present';
import type { TaskTests } from '../config/config.ts';
import { git } from '../workspace/git.ts';
import { openRepository, type Repository } from '../workspace/repository.ts';
import { findRunner } from './find-runner.ts';
import type { ChangedFile, HistoryCommit } from './scan-history.ts';

/** A file of a commit. */
export type FileContent = { path: string; content: Buffer; executable: boolean };

/** A task that is not validated yet: where it starts, what solves it, and how that is seen. */
export type Draft = {
  commit: HistoryCommit;
  /** The commit that the task starts from. */
  base: string;
  tests: Omit<TaskTests, 'mustPass'>;
  /** The test files of the commit, and what they need. */
  testFiles: FileContent[];
  /** All other changes of the commit, for `git apply --binary`; bytes as a latin1 string. */
  goldPatch: string;
};

/** Takes a commit apart: its tests, and the rest. A text: why it cannot be a task. */
export async function draftOf(repo: string, commit: HistoryCommit): Promise<Draft | string> {
  const repository = await openRepository(repo);
  const ofTests = commit.files.filter(isOfTests);
  const others = commit.files.filter((file) => !isOfTests(file));
  const testPaths = ofTests.filter(({ change }) => change !== 'deleted').map(({ path }) => path);
  const files = ofTests
    .filter(({ kind, change }) => kind === 'test' && change !== 'deleted')
    .map(({ path }) => path);
  const found = await findRunner(files, (path) => readAt(repository, commit.commit, path));
  if (typeof found === 'string') return found;
  const { runner, options, directory } = found;
  const paths = others.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
  return {
    commit,
    base: commit.parent,
    tests: { runner, options, files, ...present({ directory }) },
    testFiles: await contentsAt(repository, commit.commit, testPaths),
    goldPatch: await patchOf(repository, commit, paths),
  };
}

const isOfTests = ({ kind }: ChangedFile): boolean => kind === 'test' || kind === 'test-data';

/** The text of a file at a commit; `undefined` where there is none. */
async function readAt(repository: Repository, commit: string, path: string): Promise<string | undefined> {
  const spec = ['cat-file', 'blob', `${commit}:${path}`];
  return git(spec, { gitDir: repository.gitDir }).then(
    (content) => content.toString(),
    () => undefined,
  );
}

async function contentsAt(
  { gitDir }: Repository,
  commit: string,
  paths: readonly string[],
): Promise<FileContent[]> {
  const listing = ['--literal-pathspecs', 'ls-tree', '-r', '-z', '--full-tree', commit, '--', ...paths];
  const entries = (await git(listing, { gitDir })).toString().split('\0').filter(Boolean);
  const files: FileContent[] = [];
  for (const entry of entries) {
    const [facts = '', path = ''] = entry.split('\t');
    const [mode = '', , oid = ''] = facts.split(' ');
    if (!mode.startsWith('100')) continue;
    const content = await git(['cat-file', 'blob', oid], { gitDir });
    files.push({ path, content, executable: mode === '100755' });
  }
  return files;
}

async function patchOf(
  { gitDir, workTree }: Repository,
  { commit, parent }: HistoryCommit,
  paths: readonly string[],
): Promise<string> {
  const diff = [
    'diff-tree',
    '-p',
    '--binary',
    '--full-index',
    '--no-renames',
    '--no-color',
    '--no-ext-diff',
    '--no-textconv',
  ];
  const revisions = ['--end-of-options', parent, commit];
  const patch = await git(['--literal-pathspecs', ...diff, ...revisions, '--', ...paths], {
    gitDir,
    cwd: workTree,
  });
  return patch.toString('latin1');
}

/** A name for the task: the subject of the commit in a few words, and the beginning of its id. */
export function taskIdOf({ message, commit }: HistoryCommit): string {
  const subject = (message.split('\n', 1)[0] ?? '').toLowerCase();
  const words = subject.replace(/\(#\d+\)|#\d+/g, '').match(/[a-z0-9]+/g) ?? [];
  return [...words.slice(0, 6), commit.slice(0, 8)].join('-');
}
