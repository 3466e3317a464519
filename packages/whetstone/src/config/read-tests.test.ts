import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { fingerprintTask } from '../plan/fingerprint.ts';
import { ConfigErrors } from './diagnostic.ts';
import { loadConfig } from './load-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'read-tests-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function taskWith(tests: Record<string, unknown>) {
  const config = {
    repo: { path: '.' },
    agents: { mine: { kind: 'custom', command: 'true' } },
    variants: { a: {} },
  };
  writeFileSync(join(folder, 'whetstone.yaml'), stringify(config));
  const task = { id: 'one', prompt: 'Do it.', validation: { tests: { files: ['a.test.js'], ...tests } } };
  writeFileSync(join(folder, 'tasks.yaml'), stringify({ tasks: [task] }));
  const { config: loaded } = await loadConfig(join(folder, 'whetstone.yaml'));
  const [read] = loaded.tasks;
  if (!read) throw new Error('no task');
  return read;
}

const problems = (tests: Record<string, unknown>): Promise<string[]> =>
  taskWith(tests).then(
    () => [],
    (error: unknown) => {
      if (!(error instanceof ConfigErrors)) throw error;
      return error.diagnostics.map(({ message }) => message);
    },
  );

test('masks and settings are refused where they can do nothing', async () => {
  expect(await problems({ runner: 'go-test', masks: 'on' })).toEqual([
    'tests of go-test cannot be masked: leave it out',
  ]);
  expect(await problems({ runner: 'vitest', masks: 2 })).toEqual([
    'needs hidden_tests and gold_patch: masks change hidden tests, and try the changes on the solved tree',
  ]);
  for (const runner of ['node-test', 'unittest', 'go-test', 'cargo-test'])
    expect(await problems({ runner, settings: 'own' })).toEqual([
      `${runner} reads no settings that could be replaced: leave it out`,
    ]);
  for (const runner of ['vitest', 'jest', 'mocha', 'pytest'])
    expect(await problems({ runner, settings: 'own', masks: 'off' })).toEqual([]);
});

test('a task with other settings of its runner is another task', async () => {
  const prints = [];
  for (const settings of [undefined, 'tree', 'own'])
    prints.push(await fingerprintTask(await taskWith({ runner: 'jest', ...(settings && { settings }) })));
  expect(new Set(prints.map((print) => JSON.stringify(print))).size).toBe(3);
});
