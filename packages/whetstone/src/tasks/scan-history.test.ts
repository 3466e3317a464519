import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runGit } from '../workspace/__fixtures__/test-repo.ts';
import { makeHistory } from './__fixtures__/history.ts';
import { START, smallProject } from './__fixtures__/small-project.ts';
import { classifyPath } from './classify-path.ts';
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

test('a history tells of each commit whether it is a candidate, or why not', async () => {
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
  const narrow = await scanHistory(repo, { ...LIMITS, paths: ['packages'], since: '2026-01-01' });
  expect(narrow.candidates.map(({ message }) => message)).toEqual(['Test both packages', 'Count right']);
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
