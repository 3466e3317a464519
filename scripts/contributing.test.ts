import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longFiles } from './long-files-first.ts';

const root = join(import.meta.dirname, '..');

test('every file that CONTRIBUTING.md names exists', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const paths = [...text.matchAll(/`((?:packages|examples|scripts|docs)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  );
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('the tests that start first exist', () => {
  expect(longFiles.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

const testsWith = (pattern: RegExp): string[] =>
  globSync('{packages,examples,scripts}/**/*.test.ts', { cwd: root })
    .filter((file) => !file.includes('node_modules'))
    .filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')));

test('no test replaces a module', () => {
  expect(testsWith(/\bvi\.(?:mock|doMock|hoisted)\(/)).toEqual([]);
});

test('every test that is skipped on some machines has a tag, which names the cause', () => {
  expect(testsWith(/^(?:test|describe)\.(?:runIf|skipIf)\((?:(?!tags|=> \{)[\s\S])*=> \{/m)).toEqual([]);
});

test('every test that waits says for how long, because one second is too short on a busy machine', () => {
  expect(testsWith(/\bvi\.wait(?:For|Until)\((?!.*timeout).*;$/m)).toEqual([]);
});
