import { rmSync } from 'node:fs';
import { startSandboxProvider } from '@whetstone/sandbox';
import { expect, test, vi } from 'vitest';
import { makeTempDir } from '../workspace/__fixtures__/test-repo.ts';
import { type MaskedProject, openMaskedRoom } from './__fixtures__/masked-room.ts';

const PROJECT: MaskedProject = {
  runner: 'node-test',
  files: { 'package.json': '{"type":"module"}\n', 'add.js': 'export const add = (a, b) => a - b;\n' },
  solution: { 'add.js': 'export const add = (a, b) => a + b;\n' },
  hidden: {
    'test/add.test.js':
      "import { equal } from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { add } from '../add.js';\ntest('one', () => equal(add(1, 1), 2));\n",
  },
  masks: 'off',
};

/** Code under test that finds the report of its runner and puts something else in its place. */
const inPlaceOfReport = (code: string): string => `const fs = process.getBuiltinModule('node:fs');
const { execFileSync } = process.getBuiltinModule('node:child_process');
const [report] = fs.readFileSync('/proc/' + process.ppid + '/cmdline', 'utf8').split('\\0')
  .flatMap((one) => one.split('--test-reporter-destination=')[1] ?? []);
fs.rmSync(report, { force: true });
${code}
export const add = (a, b) => a + b;
`;

const ATTACKS: Readonly<Record<string, string>> = {
  'a pipe that nobody writes to': "execFileSync('mkfifo', [report]);",
  'a link to a device without an end': "fs.symlinkSync('/dev/zero', report);",
  'a folder': 'fs.mkdirSync(report);',
  'a sparse file of 1.5 GB': "fs.writeFileSync(report, ''); fs.truncateSync(report, 1.5e9);",
};

test.skipIf(process.platform !== 'linux')(
  'code under test that puts something else in the place of the report has failed',
  { timeout: 120_000, tags: 'linux' },
  async () => {
    await using room = await openMaskedRoom(PROJECT);
    for (const [what, code] of Object.entries(ATTACKS)) {
      const before = process.memoryUsage().rss;
      const verdict = await room.judgeFiles({ 'add.js': inPlaceOfReport(code) }, { isMasked: false });
      expect({ what, ...verdict }).toMatchObject({ what, validation: 'failed' });
      expect(verdict.broken, what).toBeUndefined();
      expect(process.memoryUsage().rss - before, what).toBeLessThan(600e6);
    }
  },
);

test('tests of a task without a limit end after an hour', async () => {
  const scratch = makeTempDir();
  const provider = await startSandboxProvider('process', { scratch });
  const sandbox = await provider.start({ workdir: scratch, env: {} });
  const run = vi.spyOn(Object.getPrototypeOf(sandbox), 'runCommand');
  await using room = await openMaskedRoom(PROJECT);
  await room.judgeFiles({ 'add.js': 'export const add = 0;\n' }, { isMasked: false });
  const limits = run.mock.calls.map(([, , options]) => (options as { timeoutMs?: number }).timeoutMs);
  expect(limits).toContain(3_600_000);
  expect(limits).not.toContain(undefined);
  await sandbox[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true });
});
