import { join } from 'node:path';
import type { ProcessAttack } from '../../testkit/attacks/node-process-attacks.ts';
import { installedRunners } from './installed-runners.ts';
import type { MaskedProject } from './masked-room.ts';

/** The runners whose tests can be masked. */
export type Runner = ProcessAttack['runner'];

/** So many tests that to guess their masks succeeds once in 16 million times. */
export const TESTS = 24;
const asked = Array.from({ length: TESTS }, (_, one) => ({
  one,
  call: `add(${one}, ${3 * one + 1})`,
  sum: 4 * one + 1,
}));

/** The code under test of each runner, the right one, and its tests, in a folder. */
export const SUMS: Record<
  Runner,
  (folder: string) => { test: string; source: string; text: string; right: string }
> = {
  'node-test': (folder) => ({
    ...{ test: `${folder}/add.test.mjs`, source: `${folder}/add.mjs`, right: RIGHT_JAVASCRIPT },
    text: `import { equal } from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { add } from './add.mjs';\n${asked.map(({ one, call, sum }) => `test('adds ${one}', () => equal(${call}, ${sum}));`).join('\n')}\n`,
  }),
  vitest: (folder) => ({
    ...{ test: `${folder}/add.test.mjs`, source: `${folder}/add.mjs`, right: RIGHT_JAVASCRIPT },
    text: `import { expect, test } from 'vitest';\nimport { add } from './add.mjs';\n${asked.map(({ one, call, sum }) => `test('adds ${one}', () => {\n  expect(${call}).toEqual(${sum});\n});`).join('\n')}\n`,
  }),
  jest: (folder) => ({
    ...{ test: `${folder}/add.test.cjs`, source: `${folder}/add.cjs`, right: RIGHT_COMMON },
    text: `const { add } = require('./add.cjs');\n${asked.map(({ one, call, sum }) => `test('adds ${one}', () => {\n  expect(${call}).${one % 2 === 0 ? 'toBe' : 'toEqual'}(${sum});\n});`).join('\n')}\n`,
  }),
  mocha: (folder) => ({
    ...{ test: `${folder}/add.test.cjs`, source: `${folder}/add.cjs`, right: RIGHT_COMMON },
    text: `const assert = require('node:assert/strict');\nconst { add } = require('./add.cjs');\n${asked.map(({ one, call, sum }) => `it('adds ${one}', () => assert.equal(${call}, ${sum}));`).join('\n')}\n`,
  }),
  pytest: () => ({
    ...{ test: 'test_add.py', source: 'add.py', right: RIGHT_PYTHON },
    text: `from add import add\n${asked.map(({ one, call, sum }) => `def test_${one}():\n    assert ${call} == ${sum}`).join('\n')}\n`,
  }),
  unittest: () => ({
    ...{ test: 'test_add.py', source: 'add.py', right: RIGHT_PYTHON },
    text: `import unittest\nfrom add import add\nclass TestAdd(unittest.TestCase):\n${asked.map(({ one, call, sum }) => `    def test_${one}(self):\n        self.assertEqual(${call}, ${sum})`).join('\n')}\n`,
  }),
};
const RIGHT_JAVASCRIPT = 'export const add = (a, b) => a + b;\n';
const RIGHT_COMMON = 'exports.add = (a, b) => a + b;\n';
const RIGHT_PYTHON = 'def add(a, b):\n    return a + b\n';

/** Where the packages of a runner are: those of this repository, Vitest among them, or others. */
async function packagesOf(runner: Runner): Promise<string | undefined> {
  if (runner === 'vitest') return join(import.meta.dirname, '../../../../../node_modules');
  return runner === 'jest' || runner === 'mocha' ? installedRunners() : undefined;
}

/** A task whose code adds two numbers, once per folder. */
export async function sumProject(runner: Runner, folders: readonly string[]): Promise<MaskedProject> {
  const files = folders.map((folder) => SUMS[runner](folder));
  const packages = await packagesOf(runner);
  return {
    runner,
    files: { 'package.json': '{}\n', ...Object.fromEntries(files.map(({ source }) => [source, ''])) },
    solution: Object.fromEntries(files.map(({ source, right }) => [source, right])),
    hidden: Object.fromEntries(files.map(({ test: path, text }) => [path, text])),
    ...(packages !== undefined && { setup: `ln -s '${packages}' node_modules` }),
  };
}

