import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

test('every file that CONTRIBUTING.md names exists', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const paths = [...text.matchAll(/`((?:packages|examples|scripts|docs)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  );
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('no test replaces a module', () => {
  const call = /\bvi\.(?:mock|doMock|hoisted)\(/;
  const replacing = globSync('{packages,examples,scripts}/**/*.test.ts', { cwd: root })
    .filter((file) => !file.includes('node_modules'))
    .filter((file) => call.test(readFileSync(join(root, file), 'utf8')));
  expect(replacing).toEqual([]);
});
