import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

/** Reports one test that sees what the work did, and one that passes in every second run. */
const runner = (counter: string) => `#!/bin/sh
for each; do case $each in --outputFile=*) report=\${each#*=};; esac; done
echo >> ${counter}
grep -q 'n / 2' src/half.js && half=passed || half=failed
test $(($(wc -l < ${counter}) % 2)) = 1 && odd=passed || odd=failed
of() { echo "{\\"ancestorTitles\\":[],\\"title\\":\\"$1\\",\\"status\\":\\"$2\\"}"; }
echo "{\\"testResults\\":[{\\"name\\":\\"$PWD/test/half.test.js\\",\\"assertionResults\\":[$(of half $half),$(of odd $odd)]}]}" > "$report"
`;

test('check names flaky tests, tasks that nothing verifies, and what a prompt gives away', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'whetstone-test-'));
  using project = makeProject({
    files: { 'src/half.js': 'n / 3\n', jest: runner(join(folder, 'counter')) },
    config: { evaluation: {} },
  });
  const taskOf = (id: string, prompt: string, ids: string[]) =>
    JSON.stringify({
      ...{ id, prompt, gold_patch: '../gold.patch', hidden_tests: '../tests' },
      setup: ['mkdir -p node_modules/.bin; cp jest node_modules/.bin; chmod +x node_modules/.bin/jest'],
      validation: {
        tests: {
          ...{ runner: 'jest', files: ['test/half.test.js'], masks: 'off' },
          must_pass: ids.map((name) => `test/half.test.js > ${name}`),
        },
      },
    });
  const line = 'export const half = (n) => n / 2;';
  const said = `As in 1a2b3c4d5, src/half.js needs this, and test/half.test.js passes:\n${line}\n`;
  project.write({
    'tasks.yaml': 'include: [own]\n',
    'own/gold.patch': `--- a/src/half.js\n+++ b/src/half.js\n@@ -1 +1 @@\n-n / 3\n+${line}\n`,
    'own/tests/test/half.test.js': 'half\n',
    'own/flaky/task.yaml': taskOf('flaky', 'Halve it.', ['half', 'odd']),
    'own/fit/task.yaml': taskOf('fit', said, ['half']),
    'own/nothing/task.yaml': 'id: nothing\nprompt: Do it.\n',
  });
  const { stdout, stderr, exitCode } = await project.whetstone([
    ...['tasks', 'check', '--repeat', '2', '--json'],
  ]);
  expect(exitCode, stderr).toBe(1);
  const { checks, unfit } = JSON.parse(stdout);
  expect(unfit).toEqual(['flaky', 'nothing']);
  const odd = 'test/half.test.js > odd';
  expect(checks).toEqual([
    expect.objectContaining({
      ...{ task: 'fit', nop: { passed: 0, runs: 2 }, gold: { passed: 2, runs: 2 } },
      ...{ flaky: [odd], problems: [] },
      warnings: [
        'the prompt names the hidden file test/half.test.js',
        `the prompt has a line of the answer: ${line}`,
        'the prompt names src/half.js, which the answer changes',
        'the prompt has 1a2b3c4d5, which may be a commit id',
      ],
    }),
    expect.objectContaining({
      ...{ task: 'flaky', nop: { passed: 0, runs: 2 }, gold: { passed: 1, runs: 2 } },
      flaky: [odd],
      problems: [
        `with its patch: 1 of 2 tests did not pass: ${odd} (failed)`,
        `relies on flaky tests: ${odd}`,
      ],
    }),
    expect.objectContaining({
      ...{ task: 'nothing', nop: { passed: 2, runs: 2 }, gold: null, flaky: null },
      problems: ['nothing verifies the work', 'passes without any work in 2 of 2 runs'],
    }),
  ]);
  const once = await project.whetstone(['tasks', 'check', '--task-id', 'fit']);
  expect(once.stdout).toMatch(/^fit {4}0\/1 +1\/1 +– /m); // nothing ran twice
  rmSync(folder, { recursive: true });
});

test('a task whose patch does not solve it has this problem only, and no second one about its masks', async () => {
  using project = makeProject({
    files: { 'src/half.js': 'n / 3\n', jest: runner('/dev/null') },
    config: { evaluation: {} },
  });
  project.write({
    'tasks.yaml': 'include: [own]\n',
    'own/gold.patch': '--- a/src/half.js\n+++ b/src/half.js\n@@ -1 +1 @@\n-n / 3\n+n / 4\n',
    'own/tests/test/half.test.js': "test('half', () => expect(half(2)).toBe(1));\n",
    'own/one/task.yaml': JSON.stringify({
      ...{ id: 'one', prompt: 'Halve it.', gold_patch: '../gold.patch', hidden_tests: '../tests' },
      setup: ['mkdir -p node_modules/.bin; cp jest node_modules/.bin; chmod +x node_modules/.bin/jest'],
      validation: {
        tests: { runner: 'jest', files: ['test/half.test.js'], must_pass: ['test/half.test.js > half'] },
      },
    }),
  });
  const { stdout, exitCode } = await project.whetstone(['tasks', 'check']);
  expect(stdout).toContain('one: with its patch: 1 of 1 tests did not pass');
  expect(stdout).not.toContain('masked:');
  expect(exitCode).toBe(1);
});

test('a prompt may name the file that code was taken out of, where the task was made that way', async () => {
  using project = makeProject({ config: { evaluation: {} } });
  const task = (id: string) =>
    JSON.stringify({
      id,
      prompt: 'Put back f in README.md.',
      gold_patch: 'gold.patch',
      validation: { commands: ['false'] },
    });
  const patch = '--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n A project.\n+f\n';
  project.write({
    'tasks.yaml': 'include: [own]\n',
    ...Object.fromEntries(
      ['remove', 'replay'].flatMap((method) => [
        [`own/${method}/task.yaml`, task(method)],
        [`own/${method}/gold.patch`, patch],
        [`own/${method}/provenance.json`, JSON.stringify({ method })],
      ]),
    ),
  });
  const { stdout } = await project.whetstone(['tasks', 'check', '--json']);
  expect(JSON.parse(stdout).checks).toMatchObject([
    { task: 'remove', warnings: [] },
    { task: 'replay', warnings: ['the prompt names README.md, which the answer changes'] },
  ]);
});

test('check says which keys of a task have no effect, of a folder and of a configuration', async () => {
  using project = makeProject({ config: { evaluation: {} } });
  const wrong = { id: 'one', prompt: 'Do it.', validation: { commands: ['false'] }, gold_pach: 'gold.patch' };
  project.write({ 'tasks.yaml': 'include: [own]\n', 'own/one/task.yaml': JSON.stringify(wrong) });
  for (const folders of [['own', '--repo', project.repo], []]) {
    const { stderr } = await project.whetstone(['tasks', 'check', ...folders]);
    expect(stderr).toContain('own/one/task.yaml:1:67  warning gold_pach: unknown key');
  }
});
