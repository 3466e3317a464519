import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../packages/whetstone/src/cli/__fixtures__/command-line.ts';
import { makeTempDir } from '../../packages/whetstone/src/workspace/__fixtures__/test-repo.ts';

let root: string;
beforeAll(() => {
  root = join(makeTempDir(), 'evals');
  cpSync(import.meta.dirname, root, { recursive: true });
  mkdirSync(join(root, 'tmp'));
});
afterAll(() => rmSync(dirname(root), { recursive: true, force: true }));

const env = { PATH: process.env.PATH, HOME: process.env.HOME };
const exp = async (...args: string[]) => {
  const call = { args: [...args, '--json'], cwd: root, env: { ...env, TMPDIR: join(root, 'tmp') } };
  const { stdout, exitCode } = await runCommandLine(call);
  return { exitCode, ...JSON.parse(stdout) };
};

test('the examples pass, are reused the second time and judged anew', async () => {
  const first = await exp('exp', '--jobs', '2');
  expect(first.runs.map(({ cases }: { cases: unknown }) => cases)).toMatchObject([
    { planned: 16, passed: 16 },
    { planned: 2, passed: 2 },
  ]);
  expect(first.exitCode).toBe(0);
  const again = await exp('exp');
  expect(again.runs.map(({ cases }: { cases: unknown }) => cases)).toMatchObject([
    { passed: 16, reused: 16 },
    { passed: 2, reused: 2 },
  ]);
  const { rescored, changed } = await exp('rescore', first.runs[0].run_id);
  expect([rescored, changed]).toEqual([16, []]);
});
