import { describe, test } from 'vitest';
import type { TestRunnerName } from '../config/schema.ts';
import { installedRunners } from './__fixtures__/installed-runners.ts';
import { openMaskedRoom } from './__fixtures__/masked-room.ts';

/** Versions that old commits of a repository still have, from before there were options that newer ones need. */
const VERSIONS: ReadonlyArray<[runner: TestRunnerName, version: string]> = [
  ['vitest', '0.34.6'],
  ['vitest', '1.2.2'],
  ['jest', '26.6.3'],
  ['mocha', '6.2.3'],
];

const MATCHERS: Partial<Record<TestRunnerName, string>> = {
  vitest: "import { expect, test } from 'vitest';\nimport { add } from '../add.cjs';\n",
  jest: "const { add } = require('../add.cjs');\n",
};
const CASES = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => [`adds ${n}`, n, n + 1, 2 * n + 1] as const);

function textOf(runner: TestRunnerName): string {
  const matchers = MATCHERS[runner];
  const tests = CASES.map(([name, a, b, sum]) =>
    matchers === undefined
      ? `it('${name}', () => equal(add(${a}, ${b}), ${sum}));`
      : `test('${name}', () => { expect(add(${a}, ${b})).toBe(${sum}); });`,
  ).join('\n');
  const head =
    matchers ?? "const { equal } = require('node:assert');\nconst { add } = require('../add.cjs');\n";
  return `${head}${tests}\n`;
}

describe.concurrent.each(VERSIONS)('%s %s', (runner, version) => {
  test('reports its tests, hides them behind masks, and tells right work from wrong', {
    timeout: 300_000,
  }, async ({ expect }) => {
    const modules = await installedRunners([`${runner}@${version}`]);
    const file = runner === 'vitest' ? 'test/add.test.mjs' : 'test/add.test.cjs';
    await using room = await openMaskedRoom({
      runner,
      files: {
        'package.json': '{}\n',
        'add.cjs': 'exports.add = (a, b) => a - b;\n',
        // Coverage that a repository asks for, by a package that is not there.
        ...(runner === 'vitest' && {
          'vitest.config.mjs': "export default { test: { coverage: { enabled: true, provider: 'v8' } } };\n",
        }),
        ...(runner === 'jest' && { 'jest.config.json': '{"testMatch":["**/*.test.cjs"]}\n' }),
      },
      solution: { 'add.cjs': 'exports.add = (a, b) => a + b;\n' },
      hidden: { [file]: textOf(runner) },
      masks: 'on',
      setup: `ln -s '${modules}' node_modules`,
    });
    expect(room.task.validation.tests?.mustPass).toEqual(CASES.map(([name]) => `${file} > ${name}`));
    const right = await room.judge("echo 'exports.add = (a, b) => a + b;' > add.cjs");
    expect(right, right.failure).toMatchObject({ validation: 'passed', judgedBy: 'masked-tests' });
    const wrong = await room.judge("echo 'exports.add = () => 3;' > add.cjs");
    expect(wrong).toMatchObject({ validation: 'failed' });
  });
});
