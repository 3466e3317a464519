import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openIssues } from './read-issues.ts';

let folder: string;
const path = process.env.PATH;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gh-'));
  process.env.PATH = `${folder}:${path}`;
});
afterAll(() => {
  process.env.PATH = path;
  rmSync(folder, { recursive: true });
});

/** A program that answers as `gh api` does. */
function gh(answers: Record<string, object>): void {
  const cases = Object.entries(answers).map(
    ([asked, answer]) => `'api repos/{owner}/{repo}${asked}') echo '${JSON.stringify(answer)}' ;;`,
  );
  const missing = `*) echo '{"message":"Not Found"}'; echo 'gh: Not Found (HTTP 404)' >&2; exit 1 ;;`;
  writeFileSync(join(folder, 'gh'), `#!/bin/sh\ncase "$*" in\n${cases.join('\n')}\n${missing}\nesac\n`);
  chmodSync(join(folder, 'gh'), 0o755);
}

test('gh is asked for the numbers that no file has', async () => {
  const file = join(folder, 'issues.json');
  writeFileSync(file, JSON.stringify([{ number: 7, title: 'Of the file', body: null }]));
  gh({
    '': { full_name: 'ada/project' },
    '/issues/7': { number: 7, title: 'Of GitHub', body: '' },
    '/issues/8': { number: 8, title: 'Wrong half', body: 'It is a third.' },
    '/issues/9': { number: 9, title: 'Halve', body: 'Fixes #8', pull_request: { url: 'https://…' } },
  });
  const find = await openIssues([file, 'gh'], folder);
  expect(await Promise.all([7, 8, 9, 10].map(find))).toEqual([
    { number: 7, title: 'Of the file', body: '', isPullRequest: false },
    { number: 8, title: 'Wrong half', body: 'It is a third.', isPullRequest: false },
    { number: 9, title: 'Halve', body: 'Fixes #8', isPullRequest: true },
    undefined,
  ]);
});

test('a gh that cannot answer is an error before anything is tried', async () => {
  gh({});
  await expect(openIssues(['gh'], folder)).rejects.toThrow(
    '`gh` cannot be asked for issues: gh: Not Found (HTTP 404)',
  );
  process.env.PATH = '/nowhere';
  await expect(openIssues(['gh'], folder)).rejects.toThrow('it is not installed');
});
