import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitError, git } from '../workspace/git.ts';
import { openRepository, resolveCommit } from '../workspace/repository.ts';
import { type Draft, type FileContent, filesAt, patchBetween, testsAt } from './draft.ts';
import { commitFacts, isOfTests } from './replay-draft.ts';
import type { HistoryCommit } from './scan-history.ts';
import type { StartFile } from './start-file.ts';

type Tree = ReadonlyMap<string, FileContent>;

/**
 * The sources of the commit are taken back from HEAD, whose tests then judge. What else the commit changed stays, so that
 * all these tasks have the manifests of HEAD. A text: why it cannot be a task.
 */
export async function revertDraft(repo: string, id: string, commit: HistoryCommit): Promise<Draft | string> {
  const { gitDir } = await openRepository(repo);
  const base = await resolveCommit(repo, 'HEAD');
  const paths = commit.files.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
  const [before, after, head] = await Promise.all(
    [commit.parent, commit.commit, base].map((one) => filesAt(gitDir, one, paths)),
  );
  const trees = { before, after, head } as { before: Tree; after: Tree; head: Tree };
  const sources = pathsOf(commit, (file) => file.kind === 'source');
  const start: StartFile[] = [];
  for (const path of sources) {
    const taken = await takenBack(path, trees);
    if (taken === 'conflict') return 'its sources have changed since, and cannot be taken back';
    if (!isSame(taken, trees.head.get(path))) start.push(taken);
  }
  if (start.length === 0) return 'HEAD no longer has its sources';
  const testPaths = pathsOf(commit, isOfTests).filter((path) => trees.head.has(path));
  const runnable = commit.files.filter(({ kind, path }) => kind === 'test' && testPaths.includes(path));
  if (runnable.length === 0) return 'HEAD no longer has its tests';
  const tests = await testsAt(
    gitDir,
    base,
    runnable.map(({ path }) => path),
  );
  if (typeof tests === 'string') return tests;
  const earlierTests: StartFile[] = [];
  for (const path of testPaths) {
    const taken = await takenBack(path, trees);
    // A test that cannot be taken back would show what is wanted; what a test needs does not.
    if (taken !== 'conflict') earlierTests.push(taken);
    else if (tests.files.includes(path)) earlierTests.push({ path, content: null, executable: false });
  }
  const answer = start.map(({ path }) => trees.head.get(path) ?? { path, content: null, executable: false });
  return {
    ...{ id, method: 'revert', ...commitFacts(commit), base, solved: base, start, tests },
    earlierTests: earlierTests.filter((file) => !isSame(file, trees.head.get(file.path))),
    testFiles: testPaths.flatMap((path) => trees.head.get(path) ?? []),
    goldPatch: await patchBetween(start, answer),
  };
}

const pathsOf = ({ files }: HistoryCommit, isWanted: (file: HistoryCommit['files'][number]) => boolean) => [
  ...new Set(
    files
      .filter(isWanted)
      .flatMap(({ path, from, change }) => (change === 'renamed' && from ? [path, from] : [path])),
  ),
];

const isSame = (one: StartFile, other: FileContent | undefined): boolean =>
  one.content === null
    ? other === undefined
    : other?.content.equals(one.content) === true && other.executable === one.executable;

/** A file of HEAD without what the commit did to it. */
async function takenBack(
  path: string,
  trees: { before: Tree; after: Tree; head: Tree },
): Promise<StartFile | 'conflict'> {
  const [before, after, head] = [trees.before.get(path), trees.after.get(path), trees.head.get(path)];
  const was: StartFile = before ?? { path, content: null, executable: false };
  const isUnchanged = after ? head !== undefined && after.content.equals(head.content) : head === undefined;
  if (isUnchanged) return was;
  if (!before || !after || !head) return 'conflict';
  const content = await merged({ ours: head.content, base: after.content, theirs: before.content });
  return content === 'conflict' ? content : { path, content, executable: head.executable };
}

async function merged(sides: Record<'ours' | 'base' | 'theirs', Buffer>): Promise<Buffer | 'conflict'> {
  const folder = await mkdtemp(join(tmpdir(), 'whetstone-merge-'));
  try {
    for (const [name, content] of Object.entries(sides)) await writeFile(join(folder, name), content);
    return await git(['merge-file', '-p', '-q', 'ours', 'base', 'theirs'], { cwd: folder });
  } catch (error) {
    if (error instanceof GitError) return 'conflict';
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
