import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REWRITES_REPORT } from '../testkit/attacks/settings-attacks.ts';
import { installedRunners } from './__fixtures__/installed-runners.ts';
import { type MaskedProject, openMaskedRoom } from './__fixtures__/masked-room.ts';

/** Projects whose settings import a source, and what an agent writes there. With settings of Whetstone nothing loads it. */
const projects: Record<
  string,
  MaskedProject & { attack: Record<string, string>; packages?: () => Promise<string> }
> = {
  vitest: {
    runner: 'vitest',
    files: {
      ...{ 'package.json': '{"type":"module"}\n', 'src/add.js': 'export const add = (a, b) => a - b;\n' },
      'vitest.config.mjs':
        "import { timeout } from './src/tool.js';\nexport default { test: { testTimeout: timeout } };\n",
      'src/tool.js': 'export const timeout = 4000;\n',
    },
    solution: { 'src/add.js': 'export const add = (a, b) => a + b;\n' },
    hidden: {
      'test/add.test.js':
        "import { expect, test } from 'vitest';\nimport { add } from '../src/add.js';\ntest('one', () => { expect(add(1, 1)).toBe(2); });\n",
    },
    attack: { 'src/tool.js': `${REWRITES_REPORT}\nexport const timeout = 5000;\n` },
    packages: async () => join(import.meta.dirname, '../../../../node_modules'),
  },
  jest: {
    runner: 'jest',
    files: {
      ...{ 'package.json': '{}\n', 'src/add.js': 'exports.add = (a, b) => a - b;\n', 'src/tool.js': '' },
      'jest.config.json': '{"setupFiles":["./src/tool.js"]}\n',
    },
    solution: { 'src/add.js': 'exports.add = (a, b) => a + b;\n' },
    hidden: {
      'test/add.test.js':
        "const { equal } = require('node:assert');\nconst { add } = require('../src/add.js');\ntest('one', () => equal(add(1, 1), 2));\n",
    },
    attack: { 'src/tool.js': "require('node:assert').equal = () => {};\n" },
    packages: installedRunners,
  },
  mocha: {
    runner: 'mocha',
    files: {
      ...{ 'package.json': '{}\n', 'src/add.cjs': 'exports.add = (a, b) => a - b;\n', 'src/tool.cjs': '' },
      '.mocharc.json': '{"require":["./src/tool.cjs"]}\n',
    },
    solution: { 'src/add.cjs': 'exports.add = (a, b) => a + b;\n' },
    hidden: {
      'test/add.test.cjs':
        "const { equal } = require('node:assert');\nconst { add } = require('../src/add.cjs');\nit('one', () => equal(add(1, 1), 2));\n",
    },
    attack: { 'src/tool.cjs': "require('node:assert').equal = () => {};\n" },
    packages: () => installedRunners(),
  },
  pytest: {
    runner: 'pytest',
    files: { 'add.py': 'def add(a, b):\n    return a - b\n', 'conftest.py': 'import tool\n', 'tool.py': '' },
    solution: { 'add.py': 'def add(a, b):\n    return a + b\n' },
    hidden: { 'tests/test_add.py': 'from add import add\ndef test_one(): assert add(1, 1) == 2\n' },
    attack: { 'tool.py': 'from _pytest.python import Function\nFunction.runtest = lambda self: None\n' },
  },
};
const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version']).status === 0;

test.for(Object.entries(projects))(
  '%s with settings of Whetstone loads nothing that the settings of the tree name',
  { timeout: 300_000, tags: 'pytest' },
  async ([runner, { attack, packages, ...project }], { skip }) => {
    skip(runner === 'pytest' && !hasPytest);
    const modules = await packages?.();
    const setup = modules === undefined ? {} : { setup: `ln -s '${modules}' node_modules` };
    const verdicts: Record<string, string> = {};
    for (const settings of ['tree', 'own'] as const) {
      await using room = await openMaskedRoom({ ...project, ...setup, masks: 'off', settings });
      const honest = await room.judgeFiles(project.solution, { isMasked: false });
      expect(honest.validation, honest.failure).toBe('passed');
      verdicts[settings] = (await room.judgeFiles(attack, { isMasked: false })).validation;
    }
    expect(verdicts).toEqual({ tree: 'passed', own: 'failed' });
  },
);
