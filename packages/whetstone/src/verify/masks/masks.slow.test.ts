import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ProcessAttack, processAttacks } from '../../testkit/attacks/process-attacks.ts';
import { type MaskedProject, openMaskedRoom } from '../__fixtures__/masked-room.ts';
import { problemOf } from '../tests/run-tests.ts';
import type { TestReport } from '../tests/test-runner.ts';
import { type MaskPlan, maskOf, maskPair } from './mask.ts';
import { maskedVerdict } from './masked-verdict.ts';

type Runner = ProcessAttack['runner'];

/** So many tests that to guess their masks succeeds once in 16 million times. */
const TESTS = 24;
const asked = Array.from({ length: TESTS }, (_, one) => ({
  one,
  call: `add(${one}, ${3 * one + 1})`,
  sum: 4 * one + 1,
}));

const SOURCE: Record<
  Runner,
  (folder: string) => { test: string; source: string; text: string; right: string }
> = {
  'node-test': (folder) => ({
    ...{ test: `${folder}/add.test.mjs`, source: `${folder}/add.mjs`, right: RIGHT_JAVASCRIPT },
    text: `import { equal } from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { add } from './add.mjs';\n${asked.map(({ one, call, sum }) => `test('adds ${one}', () => equal(${call}, ${sum}));`).join('\n')}\n`,
  }),
  vitest: (folder) => ({
    ...{ test: `${folder}/add.test.mjs`, source: `${folder}/add.mjs`, right: RIGHT_JAVASCRIPT },
    // One half by identity, one by equality.
    text: `import { expect, test } from 'vitest';\nimport { add } from './add.mjs';\n${asked.map(({ one, call, sum }) => `test('adds ${one}', () => {\n  expect(${call}).toEqual(${sum});\n});`).join('\n')}\n`,
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
const RIGHT_PYTHON = 'def add(a, b):\n    return a + b\n';

/** The packages of this repository, Vitest among them. */
const packages = join(import.meta.dirname, '../../../../../node_modules');

const projectOf = (runner: Runner, folders: readonly string[]): MaskedProject => {
  const files = folders.map((folder) => SOURCE[runner](folder));
  return {
    runner,
    files: { 'package.json': '{}\n', ...Object.fromEntries(files.map(({ source }) => [source, ''])) },
    solution: Object.fromEntries(files.map(({ source, right }) => [source, right])),
    hidden: Object.fromEntries(files.map(({ test: path, text }) => [path, text])),
    ...(runner === 'vitest' && { setup: `ln -s '${packages}' node_modules` }),
  };
};

/** The same masks in other folders. */
function inFolders(plan: MaskPlan, folders: readonly string[]): MaskPlan {
  const moved = (folder: string, text: string) => text.replace(/^first\//, `${folder}/`);
  return {
    ...plan,
    slots: folders.flatMap((folder) =>
      plan.slots.map((slot) => ({
        ...slot,
        file: moved(folder, slot.file),
        ids: slot.ids.map((id) => moved(folder, id)),
      })),
    ),
    texts: new Map(
      folders.flatMap((folder) => [...plan.texts].map(([file, text]) => [moved(folder, file), text])),
    ),
  };
}

const ofFolder = (report: TestReport, folder: string): TestReport => ({
  ...report,
  tests: new Map([...report.tests].filter(([id]) => id.startsWith(`${folder}/`))),
});

/** Plays attacks in one run of the tests for each verdict; each has a folder, and its tests a process of their own. */
async function playAtOnce(runner: 'node-test' | 'vitest', attacks: readonly ProcessAttack[]) {
  const folders = ['first', ...attacks.map(({ name }) => name)];
  await using first = await openMaskedRoom(projectOf(runner, ['first']));
  await using room = await openMaskedRoom({ ...projectOf(runner, folders), masks: 'off' });
  if (!('plan' in first.masking)) throw new Error(first.masking.why);
  const plan = inFolders(first.masking.plan, folders);
  const files = Object.fromEntries(attacks.map(({ name, code }) => [`${name}/add.mjs`, `${code}\n`]));
  const run = async (texts: ReadonlyMap<string, string>) =>
    room.reportOf({ 'first/add.mjs': RIGHT_JAVASCRIPT, ...files }, texts);
  const masks = await maskPair(plan);
  const plain = await run(plan.texts);
  const runs = [];
  for (const mask of masks) runs.push({ mask, report: await run(mask.texts) });
  const passed = { report: [] as string[], masks: [] as string[] };
  const called: string[] = [];
  for (const folder of folders) {
    const isOwn = ({ file }: { file: string }) => file.startsWith(`${folder}/`);
    const own = { ...plan, slots: plan.slots.filter(isOwn) };
    const expected = { mustPass: own.slots.flatMap(({ ids }) => ids), others: [] };
    if (problemOf(expected, { ...ofFolder(plain, folder), problems: [] }) === undefined)
      passed.report.push(folder);
    const ownRuns = runs.map(({ mask, report }) => ({
      report: { ...ofFolder(report, folder), problems: [] },
      mask: {
        ...mask,
        isTwin: mask.isTwin.filter((_, index) => isOwn(plan.slots[index] ?? { file: '' })),
        sentinels: mask.sentinels.filter(({ name }) =>
          mask.texts.get(`${folder}/add.test.mjs`)?.includes(name),
        ),
      },
    }));
    const { failure, isCheating } = maskedVerdict(own, expected, ownRuns);
    if (failure === undefined) passed.masks.push(folder);
    if (isCheating) called.push(folder);
  }
  return { passed, called };
}

const fooling = (attacks: readonly ProcessAttack[], verdict: ProcessAttack['fools'][number]) =>
  attacks.filter(({ fools }) => fools.includes(verdict)).map(({ name }) => name);

describe.each(['node-test', 'vitest'] as const)('%s', (runner) => {
  test('only the attacks that say so pass, and the right code does', { timeout: 900_000 }, async () => {
    const attacks = processAttacks.filter((one) => one.runner === runner);
    const { passed, called } = await playAtOnce(runner, attacks);
    expect(passed.report.filter((name) => name !== 'first').sort()).toEqual(
      fooling(attacks, 'report').sort(),
    );
    expect(passed.masks).toEqual(['first', ...fooling(attacks, 'masks')]);
    expect(called).not.toContain('first');
  });
});

const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version']).status === 0;

describe.each(['pytest', 'unittest'] as const)('%s', (runner) => {
  test.runIf(hasPytest)(
    'only the attacks that say so pass, and the right code does',
    { timeout: 900_000, tags: 'pytest' },
    async () => {
      await using room = await openMaskedRoom(projectOf(runner, ['']));
      if (!('plan' in room.masking)) throw new Error(room.masking.why);
      const { plan } = room.masking;
      expect(plan.slots).toHaveLength(TESTS);
      const attacks = processAttacks.filter((one) => one.runner === runner);
      const passed = { report: [] as string[], masks: [] as string[] };
      for (const { name, code } of [{ name: 'right', code: RIGHT_PYTHON }, ...attacks]) {
        const files = { 'add.py': `${code}\n` };
        const expected = room.task.validation.tests ?? { mustPass: [] };
        const plain = await room.reportOf(files, (await maskOf({ ...plan, texts: new Map() }, [])).texts);
        if (problemOf(expected, plain) === undefined) passed.report.push(name);
        const runs = [];
        for (const mask of await maskPair(plan))
          runs.push({ mask, report: await room.reportOf(files, mask.texts) });
        if (maskedVerdict(plan, expected, runs).failure === undefined) passed.masks.push(name);
      }
      expect(passed.report).toEqual(['right', ...fooling(attacks, 'report')]);
      expect(passed.masks).toEqual(['right', ...fooling(attacks, 'masks')]);
    },
  );
});
