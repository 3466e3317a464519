import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir, type TreeSpec, writeTree } from '../workspace/__fixtures__/test-repo.ts';
import { keepRunners } from './keep-runners.ts';

const packaged = (name: string, dependencies: Record<string, string> = {}, version = '1.0.0') =>
  JSON.stringify({ name, version, dependencies });

/** A tree with a runner, a package that the runner needs, and one that it does not need. */
const PRISTINE: TreeSpec = {
  'repo/node_modules/mocha/package.json': packaged('mocha', { debug: '*' }),
  'repo/node_modules/mocha/bin/mocha.js': 'the runner',
  'repo/node_modules/debug/package.json': packaged('debug', { ms: '*' }),
  'repo/node_modules/ms/package.json': packaged('ms'),
  'repo/node_modules/ms/index.js': 'the package',
  'repo/node_modules/lodash/package.json': packaged('lodash'),
  'repo/node_modules/.bin/tsc': 'the compiler',
  'repo/.venv/pyvenv.cfg': 'home = /usr/bin\n',
  'repo/.venv/lib/python3.12/site-packages/pytest/__init__.py': 'the runner',
  'repo/.venv/lib/python3.12/site-packages/requests/__init__.py': '1',
  'home/.cache/a': 'cached',
};

/** Resolves with what `keepRunners` put back in a copy of the tree with other files, and how the files are then. */
async function keptAfter(changed: TreeSpec, change: (root: string) => void = () => undefined) {
  const root = makeTempDir();
  writeTree(join(root, 'pristine'), PRISTINE);
  writeTree(join(root, 'made'), { ...PRISTINE, ...changed });
  change(join(root, 'made'));
  const layer = (name: string) => ({ tree: join(root, name, 'repo'), home: join(root, name, 'home') });
  const kept = await keepRunners(layer('pristine'), layer('made'));
  const files = Object.fromEntries(
    Object.keys({ ...PRISTINE, ...changed }).map((path) => {
      const file = join(root, 'made', path);
      return [path, existsSync(file) ? readFileSync(file, 'utf8') : undefined];
    }),
  );
  rmSync(root, { recursive: true });
  return { kept, files };
}

test('a layer in which nothing about runners differs stays as it is, with its upgraded and new packages', async () => {
  const changed = {
    'repo/node_modules/lodash/package.json': packaged('lodash', {}, '2.0.0'),
    'repo/node_modules/left-pad/package.json': packaged('left-pad'),
    'repo/node_modules/.bin/left-pad': 'a program',
    'repo/.venv/lib/python3.12/site-packages/requests/__init__.py': '2',
    'home/.cache/b': 'cached',
  };
  const { kept, files } = await keptAfter(changed);
  expect(kept).toEqual([]);
  expect(files).toMatchObject(changed);
});

test('a runner, and what it depends on, is that of the pristine layer', async () => {
  const { kept, files } = await keptAfter({
    'repo/node_modules/mocha/bin/mocha.js': 'says that all has passed',
    'repo/node_modules/mocha/node_modules/ms/index.js': 'a trojan',
    'repo/node_modules/ms/index.js': 'a trojan',
    'repo/part/node_modules/mocha/bin/mocha.js': 'a trojan that is found first',
  });
  expect(kept).toEqual(['node_modules/mocha', 'node_modules/ms', 'part/node_modules/mocha']);
  expect(files).toMatchObject(PRISTINE);
  expect(files['repo/node_modules/mocha/node_modules/ms/index.js']).toBeUndefined();
  expect(files['repo/part/node_modules/mocha/bin/mocha.js']).toBeUndefined();
});

test('no program takes the place of one that was there, or of one of the machine', async () => {
  const { kept, files } = await keptAfter({
    'repo/node_modules/.bin/node': { exec: '#!/bin/sh\nexit 0\n' },
    'repo/node_modules/.bin/tsc': 'a trojan',
    'repo/.venv/bin/python3': { exec: '#!/bin/sh\nexit 0\n' },
    'home/.local/bin/npm': { exec: '#!/bin/sh\nexit 0\n' },
  });
  expect(kept).toEqual(['.venv/', 'node_modules/.bin/node', 'node_modules/.bin/tsc', '~/.local/bin']);
  expect(files).toMatchObject({ ...PRISTINE, 'repo/node_modules/.bin/node': undefined });
  expect(files['repo/.venv/bin/python3']).toBeUndefined();
  expect(files['home/.local/bin/npm']).toBeUndefined();
});

test('nothing is loaded that the runner would load by itself', async () => {
  const packages = 'repo/.venv/lib/python3.12/site-packages';
  const added = {
    'repo/vitest.config.mjs': 'settings',
    'repo/conftest.py': 'a plugin',
    [`${packages}/pytest/__init__.py`]: 'says that all has passed',
    [`${packages}/own.pth`]: 'import own',
    [`${packages}/forgiving-1.dist-info/entry_points.txt`]: '[pytest11]\nforgiving = forgiving\n',
    'home/.npmrc': 'script-shell=/bin/true\n',
  };
  const { kept, files } = await keptAfter(added);
  expect(kept).toEqual(['.venv/', 'conftest.py', 'vitest.config.mjs', '~/.npmrc']);
  expect(files).toMatchObject(PRISTINE);
  for (const path of Object.keys(added).filter((one) => !Object.hasOwn(PRISTINE, one)))
    expect(files[path], path).toBeUndefined();
});

test('a link in place of the packages is not followed', async () => {
  const outside = makeTempDir();
  mkdirSync(join(outside, 'mocha'));
  const { files } = await keptAfter({}, (made) => {
    rmSync(join(made, 'repo/node_modules'), { recursive: true });
    symlinkSync(outside, join(made, 'repo/node_modules'));
  });
  expect(files['repo/node_modules/mocha/bin/mocha.js']).toBe('the runner');
  expect(existsSync(join(outside, 'mocha/bin'))).toBe(false);
  rmSync(outside, { recursive: true });
});
