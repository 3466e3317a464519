import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { AssertionRecord } from '../eval/assertions/assertion.ts';
import { storedCalls } from './stored-calls.ts';

const check = (name: string, status: AssertionRecord['status']): AssertionRecord => ({
  ...{ name, status, severity: 'gate', optional: false, message: `it ${status}`, evidence: { events: [] } },
});

const stored = [
  check('scriptPassed("test")', 'failed'),
  check('testsPassed()', 'passed'),
  check('scriptPassed("test")', 'passed'),
];

const room = { check: async () => ({ status: 'passed', message: 'it ran again' }) as const };
const open = (patch = '/no/such/patch', areTestsTheSame = true) =>
  storedCalls(stored, { patch }, { repo: '/no/such/repository', room, areTestsTheSame });

test('the n-th check of a name has the result of the n-th stored one', async () => {
  const { calls, miscounted } = open();
  const first = await calls.check({ script: 'test' });
  const tests = await calls.check({ tests: true });
  const second = await calls.check({ script: 'test' });
  expect([first.status, tests.status, second.status]).toEqual(['failed', 'passed', 'passed']);
  expect([...miscounted().keys()]).toEqual([]);
});

test('nobody knows which stored result is meant when an eval checks more or less often', async () => {
  const { calls, miscounted } = open();
  await calls.check({ script: 'test' });
  await calls.check({ tests: true });
  await calls.check({ tests: true });
  await calls.check({ script: 'lint' });
  expect([...miscounted()]).toEqual([
    [
      'scriptPassed("test")',
      expect.stringContaining('has 2 results of this check, and the eval now asks for 1'),
    ],
    ['testsPassed()', expect.stringContaining('has 1 result of this check, and the eval now asks for 2')],
  ]);
});

test('what has no stored result, and changed tests, run again once all turns are there', async () => {
  const { calls, miscounted } = open(undefined, false);
  expect(await calls.check({ tests: true }, 1)).toMatchObject({
    status: 'broken',
    message: expect.stringContaining('another turn follows'),
  });
  expect(await calls.check({ tests: true })).toEqual({ status: 'passed', message: 'it ran again' });
  expect(await calls.check({ script: 'lint' })).toMatchObject({ message: 'it ran again' });
  expect(miscounted().size).toBe(0);
});

test('the stored patch gives the changes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stored-calls-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const patch = join(folder, 'changes.patch');
  writeFileSync(patch, 'diff --git a/a.txt b/a.txt\nnew file mode 100644\n');
  const { calls } = open(patch);
  expect(await calls.changes()).toMatchObject([{ path: 'a.txt', status: 'added' }]);
});
