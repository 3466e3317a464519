import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TaskConfig } from '../config/config.ts';
import { makeTempDir, type TreeSpec, writeTree } from '../workspace/__fixtures__/test-repo.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { runnerFiles } from './runner-files.ts';

/** The paths of a tree that its runners load because settings say so. */
async function heldIn(
  files: TreeSpec,
  { gold, ...task }: { gold?: string; tests?: object; changeablePaths?: string[] } = {},
) {
  const root = makeTempDir();
  writeTree(join(root, 'tree'), files);
  const goldPatch = join(root, 'gold.patch');
  writeFileSync(goldPatch, gold ?? '');
  const entries = new Map(Object.keys(files).map((path) => [path, { mode: '100644', oid: '' }]));
  const { changeablePaths, tests } = task;
  const config = { goldPatch, changeablePaths, validation: { commands: [], tests } };
  const workspace = { path: join(root, 'tree'), snapshot: { entries } };
  const isHeld = await runnerFiles(config as unknown as TaskConfig, workspace as unknown as Workspace);
  rmSync(root, { recursive: true });
  return { isHeld, paths: Object.keys(files).filter(isHeld) };
}

const VITEST = {
  'vitest.config.ts': `import plugin from './tools/plugin.ts';
import { build } from './src/index.ts';
export default { plugins: [plugin(build)], test: {
  setupFiles: ['./test/setup.ts', 'src/setupTests.ts'], include: ['test/a.test.ts'],
  alias: { product: './src/index.ts' }, environment: 'jsdom' } };
`,
  'tools/plugin.ts': "export { default } from './parts.js';\n",
  ...{ 'tools/parts.ts': '', 'src/index.ts': '', 'src/setupTests.ts': '', 'test/a.test.ts': '' },
  'test/setup.ts': "import './more.ts';\nimport '../src/index.ts';\nimport '../helper.ts';\n",
  ...{ 'test/more.ts': '', 'helper.ts': '', 'jsdom.ts': '' },
};

test('Vitest: set-up files, and what the settings import, but no source of the project', async () => {
  const held = await heldIn(VITEST);
  expect(held.paths).toEqual([
    'tools/plugin.ts',
    'tools/parts.ts',
    'src/setupTests.ts',
    'test/setup.ts',
    'test/more.ts',
  ]);
});

test('what solves the task, and what it leaves to the agent, is the agent’s', async () => {
  const gold = '--- a/tools/plugin.ts\n+++ b/tools/plugin.ts\n@@ -1 +1 @@\n-a\n+b\n';
  const held = await heldIn(VITEST, { gold, changeablePaths: ['test'] });
  expect(held.paths).toEqual(['src/setupTests.ts']);
});

test('settings of other runners: package.json, JSON with comments, YAML, INI, conftest.py', async () => {
  const held = await heldIn({
    'package.json':
      '{"main":"main.js","files":["main.js"],"jest":{"setupFiles":["<rootDir>/jest-setup.js"],"transform":{"x":["./transform.js",{}]}}}',
    '.mocharc.yml': 'require: [./mocha-setup.cjs, ts-node/register]\nspec: test/*.js\n',
    '.babelrc': '{ // the plugin of this project\n "plugins": ["./babel-plugin"] }',
    'tsconfig.json': '{"extends":"./base.json","files":["main.js"]}',
    'setup.cfg': '[tool:pytest]\naddopts = -p no:cacheprovider -p helpers.plugin\n',
    'tests/conftest.py': "pytest_plugins = [\n  'tests.fixtures',\n]\n",
    ...{ 'jest-setup.js': '', 'transform.js': '', 'main.js': '', 'mocha-setup.cjs': '', 'base.json': '{}' },
    ...{ 'babel-plugin.js': '', 'helpers/plugin.py': '', 'tests/fixtures.py': '', 'tests/other.py': '' },
  });
  expect(held.paths).toEqual([
    ...['jest-setup.js', 'transform.js', 'mocha-setup.cjs', 'base.json', 'babel-plugin.js'],
    ...['helpers/plugin.py', 'tests/fixtures.py'],
  ]);
});

test('options of the task name files as well, and some runners take in what is beside the tests', async () => {
  const files = { 'part/setup.mjs': '', 'tests/unit/test_a.py': '', 'a/b_test.go': '', 'a/c_test.go': '' };
  const node = { runner: 'node-test', files: [], directory: 'part', options: ['--import=./setup.mjs'] };
  expect((await heldIn(files, { tests: node })).paths).toEqual(['part/setup.mjs']);
  const python = { runner: 'pytest', files: ['tests/unit/test_a.py'], options: [] };
  const { isHeld } = await heldIn(files, { tests: python });
  expect(
    ['tests/__init__.py', 'tests/unit/__init__.py', '__init__.py', 'tests/b/__init__.py'].map(isHeld),
  ).toEqual([true, true, false, false]);
  const go = { runner: 'go-test', files: ['a/b_test.go'], options: [] };
  expect((await heldIn(files, { tests: go })).paths).toEqual(['a/c_test.go']);
});
