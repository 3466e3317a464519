import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepo, runGit } from './test-repo.ts';

const FILES = { 'a file': 'a\n', exact88: 'b\n', 'folder/run.sh': { exec: 'true\n' }, link: { link: 'a file' }, '\xc3\xa9': 'c\n' };

test.each(['sha1', 'sha256'] as const)('the index of a copied repository is as git would refresh it (%s)', (format) => {
  makeRepo(FILES, { format });
  const repo = makeRepo(FILES, { format });
  expect(runGit(repo, ['diff-files'])).toBe('');
  const index = readFileSync(join(repo, '.git/index'));
  runGit(repo, ['update-index', '-q', '--really-refresh']);
  expect(readFileSync(join(repo, '.git/index'))).toEqual(index);
  expect(runGit(repo, ['status', '--porcelain'])).toBe('');
});
