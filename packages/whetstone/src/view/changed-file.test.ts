import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { caseLayout, runLayout } from '../record/layout.ts';
import { makeRepo, makeTempDir } from '../workspace/__fixtures__/test-repo.ts';
import { changedFile } from './changed-file.ts';
import { sourceLines } from './source-lines.ts';

let repo: string;
let runDirectory: string;
const caseId = 'one';
const recorded = () => ({ runDirectory, caseId, row: null });
const writePatch = (patch: string) =>
  writeFileSync(caseLayout(runLayout(runDirectory).case(caseId)).patch, patch);

beforeAll(() => {
  repo = makeRepo({
    'a.txt': 'one\ntwo\nthree\n',
    'gone.txt': 'here\n',
    'data.bin': '\0\x01',
    'kept.txt': 'as it was\n',
  });
  runDirectory = makeTempDir();
  mkdirSync(runLayout(runDirectory).case(caseId), { recursive: true });
  writeFileSync(join(repo, 'a.txt'), 'one\n2\nthree\n');
  writeFileSync(join(repo, 'data.bin'), '\0\x02');
  writeFileSync(join(repo, 'new.txt'), 'new\n');
  rmSync(join(repo, 'gone.txt'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, encoding: 'utf8' });
  git('add', '-A');
  writePatch(git('diff', '--cached', '--binary', '--full-index'));
  git('reset', '--hard', '--quiet');
});
afterAll(() => {
  for (const folder of [repo, runDirectory]) rmSync(folder, { recursive: true });
});

test('a changed, a new and a deleted file are shown as they were before and after', async () => {
  expect(await changedFile(recorded(), repo, 0)).toEqual({
    ...{ problem: null, cut: 0 },
    ...{ before: 'one\ntwo\nthree\n', after: 'one\n2\nthree\n' },
  });
  expect(await changedFile(recorded(), repo, 2)).toMatchObject({ before: 'here\n', after: null });
  expect(await changedFile(recorded(), repo, 3)).toMatchObject({ before: null, after: 'new\n' });
  expect(await changedFile(recorded(), repo, 4)).toBeUndefined();
});

test('a file that cannot be made again says why', async () => {
  const problem = { problem: expect.stringContaining('cannot be shown') };
  expect(await changedFile(recorded(), repo, 1)).toEqual(problem);
  expect(await changedFile(recorded(), join(repo, 'none'), 0)).toEqual(problem);
});

test('a line that a failure names is shown as the agent left its file, and nothing outside of the commit is', async () => {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: repo, encoding: 'utf8' }).trim();
  const at = (path: string, line: number) => sourceLines(recorded(), repo, commit, { path, line });
  expect(await at('a.txt', 2)).toEqual({
    path: 'a.txt',
    line: 2,
    first: 1,
    lines: ['one', '2', 'three', ''],
  });
  expect(await at('kept.txt', 1)).toEqual({ path: 'kept.txt', line: 1, first: 1, lines: ['as it was', ''] });
  for (const [path, line] of [
    ['a.txt', 9],
    ['gone.txt', 1],
    ['none.txt', 1],
    ['../../etc/passwd', 1],
    ['/etc/passwd', 1],
    ['', 1],
    ['a.txt', Number.NaN],
  ] as const) {
    expect(await at(path, line), path).toBeUndefined();
  }
  expect(await sourceLines(recorded(), repo, '--help', { path: 'kept.txt', line: 1 })).toBeUndefined();
});
