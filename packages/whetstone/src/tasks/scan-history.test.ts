import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { expect, test } from 'vitest';
import { runGit } from '../workspace/__fixtures__/test-repo.ts';
import { makeHistory } from './__fixtures__/history.ts';
import { START, smallProject } from './__fixtures__/small-project.ts';
import { classifyPath } from './classify-path.ts';
import { introducedNames } from './introduced-names.ts';
import { replayDraft } from './replay-draft.ts';
import { scanHistory } from './scan-history.ts';

const LIMITS = { maxFiles: 15, maxLines: 600 };

test.each([
  ['src/a.ts', 'source'],
  ['lib/a.py', 'source'],
  ['src/a.test.ts', 'test'],
  ['test/a.js', 'test'],
  ['tests/test_a.py', 'test'],
  ['a_test.go', 'test'],
  ['tests/a.rs', 'test'],
  ['test/fixtures/a.js', 'test-data'],
  ['src/__snapshots__/a.test.ts.snap', 'test-data'],
  ['tests/conftest.py', 'test-data'],
  ['dist/a.js', 'generated'],
  ['src/a.min.js', 'generated'],
  ['pnpm-lock.yaml', 'lock-file'],
  ['vite.config.ts', 'other'],
  ['README.md', 'other'],
])('%s is %s', (path, kind) => {
  expect(classifyPath(path)).toBe(kind);
});

test('the scan of a history says whether each commit is a candidate, or why not', async () => {
  const steps = smallProject({ url: 'http://127.0.0.1:1/', counter: '/nowhere' });
  const repo = makeHistory(steps);
  const { candidates, leftOut, isShallow } = await scanHistory(repo, LIMITS);
  expect(isShallow).toBe(false);
  expect(candidates).toHaveLength(12);
  expect(candidates.length + leftOut.length).toBe(40);
  expect(Object.fromEntries(leftOut.map(({ subject, reason }) => [subject, reason]))).toMatchObject({
    Start: 'it has no parent',
    'Write more in the README': 'it changes neither sources nor tests',
    'Add upper': 'it changes sources but no test',
    'Test half with more numbers': 'it changes only tests',
    'Update a dependency': 'it changes dependencies (a lock file)',
    'Rename trim to strip': 'it only renames sources',
    'Use a submodule': 'it changes a submodule',
    'Change everything': 'it changes 17 files, more than 15',
    'Revert "Count right"': 'it reverts another commit',
    'fixup! Count right': 'it is meant to be squashed',
  });
  // Each commit is one day after the one before, whatever is narrowed.
  const dayBefore = ({ date }: { date: string }) => Date.parse(date) - 86_400_000;
  const narrow = await scanHistory(repo, { ...LIMITS, paths: ['packages'], since: '2026-01-01' });
  expect(narrow.candidates.map(({ message }) => message)).toEqual(['Test both packages', 'Count right']);
  for (const one of narrow.candidates) expect(Date.parse(one.previousDate ?? '')).toBe(dayBefore(one));
  // The whole commit, not only what it changes there.
  expect(narrow.candidates[0]?.files.map(({ path }) => path)).toContain('test/half.test.js');
  rmSync(repo, { recursive: true });
});

test('a shallow clone is said to be one', async () => {
  const repo = makeHistory([START, { message: 'Second', files: { 'src/half.js': 'export default 1;\n' } }]);
  const clone = `${repo}-clone`;
  runGit(repo, ['clone', '-q', '--depth', '1', `file://${repo}`, clone]);
  const { isShallow, leftOut } = await scanHistory(clone, LIMITS);
  expect(isShallow).toBe(true);
  expect(leftOut.map(({ reason }) => reason)).toEqual(['it has no parent']);
  for (const folder of [repo, clone]) rmSync(folder, { recursive: true });
});

test('a partial clone is an error, and the command of its hint completes it', async () => {
  const repo = makeHistory([START, { message: 'Second', files: { 'src/half.js': 'export default 1;\n' } }]);
  const clone = `${repo}-clone`;
  runGit(repo, ['config', 'uploadpack.allowFilter', 'true']);
  runGit(repo, ['clone', '-q', '--filter=blob:none', `file://${repo}`, clone]);
  const error = await scanHistory(clone, LIMITS).catch((error: unknown) => error);
  if (!(error instanceof WhetstoneError)) throw new Error(`no error: ${error}`);
  expect(error.code).toBe('repo-objects-missing');
  expect(error.message).toBe('The repository does not contain all files of its history.');
  const [, args = ''] = /\(git ([^)]+)\)/.exec(error.hint ?? '') ?? [];
  runGit(clone, args.split(' '));
  expect((await scanHistory(clone, LIMITS)).leftOut).toHaveLength(2);
  for (const folder of [repo, clone]) rmSync(folder, { recursive: true });
});

test('a message cannot add a commit, and no name of a commit is an option', async () => {
  const files = (text: string) => ({
    'src/half.js': `export const half${text} = ${text};\n`,
    'test/half.test.js': `import '../src/half.js'; // ${text}\n`,
  });
  const raw = `:100644 100644 ${'1 '.repeat(2)}M\t`;
  const changes = `${raw}src/half.js\n${raw}test/half.test.js\n1\t1\tsrc/half.js\n1\t1\ttest/half.test.js\n`;
  const target = (repo: string) => join(repo, 'written');
  const forged = ['a'.repeat(40), '--output=written', '2026-01-01T00:00:00Z', 'Forged', changes].join(
    '\u001f',
  );
  const repo = makeHistory([
    { message: 'Start', files: { ...START.files, ...files('1') } },
    { message: `Change it\u001e${forged}`, files: files('2') },
  ]);
  const { candidates, leftOut } = await scanHistory(repo, LIMITS);
  expect(candidates).toMatchObject([{ parent: expect.stringMatching(/^[0-9a-f]{40}$/) }]);
  expect(leftOut).toHaveLength(1);
  const [commit] = candidates;
  const draft = commit && (await replayDraft(repo, 'a', commit));
  if (!commit || !draft || typeof draft === 'string') throw new Error(`no draft: ${draft}`);
  expect((await introducedNames(repo, draft)).own).toEqual(['half2']);
  const goldPatch = '+half2 $half export exported ha.f hal|half\n';
  expect((await introducedNames(repo, { ...draft, goldPatch })).own).toEqual(['half2', '$half', 'exported']);
  await expect(replayDraft(repo, 'a', { ...commit, parent: `--output=${target(repo)}` })).rejects.toThrow();
  const base = `--open-files-in-pager=touch ${target(repo)};`;
  await expect(introducedNames(repo, { ...draft, base })).rejects.toThrow();
  expect(existsSync(target(repo))).toBe(false);
  rmSync(repo, { recursive: true });
});
