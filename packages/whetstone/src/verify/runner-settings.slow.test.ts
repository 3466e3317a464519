import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { settingsAttacks } from '../testkit/attacks/settings-attacks.ts';
import type { TreeSpec } from '../workspace/__fixtures__/test-repo.ts';
import { installedRunners } from './__fixtures__/installed-runners.ts';
import { type MaskedProject, openMaskedRoom } from './__fixtures__/masked-room.ts';

/** The packages of this repository, Vitest among them. */
const own = async () => join(import.meta.dirname, '../../../../node_modules');

const MODULE = '{"type":"module"}\n';
const WRONG = 'export const add = (a, b) => a - b;\n';
const RIGHT = 'export const add = (a, b) => a + b;\n';
const COMMON = { wrong: 'exports.add = (a, b) => a - b;\n', right: 'exports.add = (a, b) => a + b;\n' };
const asserted = (imports: string) =>
  `${imports}\ntest('one', () => equal(add(1, 1), 2));\ntest('more', () => equal(add(2, 3), 5));\n`;
const expected = (imports: string) =>
  `${imports}\ntest('one', () => { expect(add(1, 1)).toBe(2); });\ntest('more', () => { expect(add(2, 3)).toBe(5); });\n`;
const MOCHA_TEST = asserted(
  "const { equal } = require('node:assert');\nconst { add } = require('../add.cjs');\nconst test = it;",
);
const JEST_TEST = expected("const { add } = require('../add.cjs');");
const VITEST_TEST = expected("import { expect, test } from 'vitest';\nimport { add } from '../add.js';");
const PYTHON = { 'add.py': 'def add(a, b):\n    return a - b\n' };
const PYTHON_RIGHT = { 'add.py': 'def add(a, b):\n    return a + b\n' };
const PYTEST =
  'from add import add\ndef test_one(): assert add(1, 1) == 2\ndef test_more(): assert add(2, 3) == 5\n';
const UNITTEST = `import unittest
from add import add
class TestAdd(unittest.TestCase):
    def test_one(self): self.assertEqual(add(1, 1), 2)
    def test_more(self): self.assertEqual(add(2, 3), 5)
`;

/** A project: its runner, its tree, and where its packages are. */
type Attacked = Pick<MaskedProject, 'runner' | 'options' | 'directory'> & {
  files: TreeSpec;
  right: TreeSpec;
  hidden: Record<string, string>;
  packages?: () => Promise<string>;
};

const javascript = (more: TreeSpec, test: string) => ({
  ...{ files: { 'package.json': MODULE, 'add.js': WRONG, ...more }, right: { 'add.js': RIGHT } },
  hidden: { 'test/add.test.js': test },
});
const common = (more: TreeSpec, test: string, folder = '') => ({
  files: { 'package.json': '{}\n', [`${folder}add.cjs`]: COMMON.wrong, ...more },
  ...{ right: { [`${folder}add.cjs`]: COMMON.right }, hidden: { [`${folder}test/add.test.cjs`]: test } },
  packages: () => installedRunners(),
});

const projects: Record<string, Attacked> = {
  'node-test': {
    ...{ runner: 'node-test', options: ['--import=./test/setup.mjs'] },
    ...javascript(
      { 'test/setup.mjs': '' },
      asserted(
        "import { equal } from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { add } from '../add.js';",
      ),
    ),
  },
  vitest: {
    ...{ runner: 'vitest', packages: own },
    ...javascript(
      {
        'vitest.config.mjs':
          "import { timeout } from './test/shared.mjs';\nexport default { test: { testTimeout: timeout, setupFiles: ['./test/setup.mjs'], globalSetup: 'test/global.mjs' } };\n",
        ...{ 'test/shared.mjs': 'export const timeout = 4000;\n', 'test/setup.mjs': '' },
        'test/global.mjs': 'export default () => {};\n',
      },
      VITEST_TEST,
    ),
  },
  'vitest-plain': { ...{ runner: 'vitest', packages: own }, ...javascript({}, VITEST_TEST) },
  jest: {
    runner: 'jest',
    ...common(
      {
        'jest.config.json':
          '{"testMatch":["**/*.test.cjs"],"setupFilesAfterEnv":["<rootDir>/test/setup.cjs"],"globalSetup":"./test/global.cjs"}\n',
        ...{ 'test/setup.cjs': '', 'test/global.cjs': 'module.exports = () => {};\n' },
      },
      JEST_TEST,
    ),
  },
  'jest-folder': { ...{ runner: 'jest', directory: 'part' }, ...common({}, JEST_TEST, 'part/') },
  mocha: {
    runner: 'mocha',
    ...common({ '.mocharc.json': '{"require":["./test/setup.cjs"]}\n', 'test/setup.cjs': '' }, MOCHA_TEST),
  },
  'mocha-folder': { ...{ runner: 'mocha', directory: 'part' }, ...common({}, MOCHA_TEST, 'part/') },
  'mocha-chai': {
    ...{ runner: 'mocha', packages: () => installedRunners() },
    ...javascript(
      { 'package.json': '{"name":"sum","type":"module","devDependencies":{"chai":"*"}}\n' },
      "import { expect } from 'chai';\nimport { add } from '../add.js';\nit('one', () => { expect(add(1, 1)).to.equal(2); });\n",
    ),
  },
  pytest: {
    ...{ runner: 'pytest', right: PYTHON_RIGHT, hidden: { 'tests/test_add.py': PYTEST } },
    files: {
      ...{ ...PYTHON, 'conftest.py': "pytest_plugins = ['tests.plugins']\n" },
      ...{ 'tests/plugins.py': '', 'tests/__init__.py': '' },
    },
  },
  'pytest-plain': {
    ...{ runner: 'pytest', right: PYTHON_RIGHT, hidden: { 'tests/test_add.py': PYTEST } },
    files: { ...PYTHON, 'setup.py': '' },
  },
  unittest: {
    ...{ runner: 'unittest', files: PYTHON, right: PYTHON_RIGHT },
    hidden: { 'tests/test_add.py': UNITTEST },
  },
  cargo: {
    runner: 'cargo-test',
    files: {
      'Cargo.toml': '[package]\nname = "sum"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': 'pub fn add(a: i32, b: i32) -> i32 { a - b }\n',
    },
    right: { 'src/lib.rs': 'pub fn add(a: i32, b: i32) -> i32 { a + b }\n' },
    hidden: {
      'tests/add.rs':
        '#[test]\nfn one() { assert_eq!(sum::add(1, 1), 2); }\n#[test]\nfn more() { assert_eq!(sum::add(2, 3), 5); }\n',
    },
  },
};

const has = (...[program, ...args]: [string, ...string[]]): boolean => spawnSync(program, args).status === 0;
const missing: Partial<Record<string, boolean>> = {
  'cargo-test': !has('cargo', '--version'),
  pytest: !has('python3', '-m', 'pytest', '--version'),
};

/** Opens the clean room of a project. Its tests are not masked: that they run as they should is what is tried. */
async function openRoom({ files, right, hidden, packages, ...project }: Attacked) {
  const modules = await packages?.();
  return openMaskedRoom({
    ...{ ...project, files, hidden, solution: right, masks: 'off' },
    ...(modules !== undefined && { setup: `ln -s '${modules}' node_modules` }),
  });
}

describe.concurrent.each(Object.entries(projects))('%s', (name, project) => {
  const tags = { pytest: ['pytest'], 'cargo-test': ['cargo'] }[String(project.runner)] ?? [];
  test.skipIf(missing[project.runner])(
    'whoever changes what the runner loads has not passed, and whoever does the work has',
    { timeout: 300_000, tags },
    async ({ expect }) => {
      await using room = await openRoom(project);
      const honest = await room.judgeFiles(project.right, { isMasked: false });
      expect(honest, honest.failure).toMatchObject({ validation: 'passed', judgedBy: 'test-report' });
      for (const { name: attack, files } of settingsAttacks.filter((one) => one.project === name)) {
        const { validation, failure, protectedTouched } = await room.judgeFiles(files, { isMasked: false });
        expect({ attack, validation }).toEqual({ attack, validation: 'failed' });
        expect(failure, attack).toMatch(/^\d of \d tests did not pass/);
        expect(protectedTouched, attack).not.toEqual([]);
      }
    },
  );
});

test('each attack belongs to a project', () => {
  for (const { project, runner } of settingsAttacks) expect(projects[project]?.runner).toBe(runner);
});
