import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runCommandLine } from '../../packages/whetstone/src/cli/__fixtures__/command-line.ts';
import { makeRepository } from './make-repository.ts';

const root = mkdtempSync(join(tmpdir(), 'audited-demo-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

// One task and some of the cheats: all of them take half an hour.
test('an audit finds nothing in a task of the demo', { timeout: 300_000 }, async () => {
  const demo = join(root, 'examples/demo');
  cpSync(import.meta.dirname, demo, { recursive: true });
  makeRepository(join(root, '.whetstone/demo/plainly'));
  const cheats = ['exits-early', 'patches-assertions', 'answers-nothing', 'prints-success'];
  const { stdout, stderr, exitCode } = await runCommandLine({
    args: [
      ...['audit', 'whetstone.yaml', '--task', 'fix-duration', '--repeat', '2', '--mutants', '4', '--json'],
      ...cheats.flatMap((name) => ['--cheat', name]),
    ],
    cwd: demo,
    env: process.env,
  });
  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    tasks: [
      {
        masks: { slots: 2 },
        oracle: { passed: 2, runs: 2 },
        nop: { passed: 0, runs: 2 },
        cheats: { passed: 0, runs: cheats.length },
        ...{ findings: [], integrity: 100 },
      },
    ],
  });
});
