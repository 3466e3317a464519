import { git } from '../workspace/git.ts';
import { openRepository } from '../workspace/repository.ts';
import { type Draft, filesAt, subjectOf, testsAt } from './draft.ts';
import type { ChangedFile, HistoryCommit } from './scan-history.ts';

export const isOfTests = ({ kind }: ChangedFile): boolean => kind === 'test' || kind === 'test-data';

/** What a draft says of the commit that it is made of. */
export const commitFacts = (commit: HistoryCommit) => ({
  ...{ subject: subjectOf(commit), commit: commit.commit, date: commit.date },
  sources: commit.files.filter(({ kind }) => kind === 'source').map(({ path, lines }) => ({ path, lines })),
});

/** The commit is done again: from its parent, with its tests. A text: why it cannot be a task. */
export async function replayDraft(repo: string, id: string, commit: HistoryCommit): Promise<Draft | string> {
  const { gitDir, workTree } = await openRepository(repo);
  const left = commit.files.filter(({ change }) => change !== 'deleted');
  const files = left.filter(({ kind }) => kind === 'test').map(({ path }) => path);
  const tests = await testsAt(gitDir, commit.commit, files);
  if (typeof tests === 'string') return tests;
  const others = commit.files.filter((file) => !isOfTests(file));
  const paths = others.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
  const diff = ['diff-tree', '-p', '--binary', '--full-index', '--no-renames', '--no-color', '--no-ext-diff'];
  const revisions = ['--no-textconv', '--end-of-options', commit.parent, commit.commit];
  const patch = await git(['--literal-pathspecs', ...diff, ...revisions, '--', ...paths], {
    gitDir,
    cwd: workTree,
  });
  const testPaths = left.filter(isOfTests).map(({ path }) => path);
  return {
    ...{ id, method: 'replay', ...commitFacts(commit), tests },
    ...{ base: commit.parent, start: [], earlierTests: [] },
    testFiles: [...(await filesAt(gitDir, commit.commit, testPaths)).values()],
    goldPatch: patch.toString('latin1'),
  };
}
