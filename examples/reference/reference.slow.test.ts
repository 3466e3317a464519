// Programs of our own for each section of the adapter reference, compiled with the repository and run against the gateway's
// script. Each file names the sections that it shows.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../packages/whetstone/src/cli/__fixtures__/command-line.ts';
import { makeTempDir } from '../../packages/whetstone/src/workspace/__fixtures__/test-repo.ts';

let root: string;
beforeAll(() => {
  root = join(makeTempDir(), 'reference');
  cpSync(import.meta.dirname, root, { recursive: true });
  mkdirSync(join(root, 'tmp'));
});
afterAll(() => rmSync(dirname(root), { recursive: true, force: true }));

const exp = async (...args: string[]) => {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: join(root, 'tmp') };
  const { stdout, exitCode } = await runCommandLine({ args: ['exp', ...args, '--json'], cwd: root, env });
  return { exitCode, ...JSON.parse(stdout) };
};

test('what the adapter reference shows works', async () => {
  const { exitCode, runs } = await exp('--jobs', '2');
  expect(runs.flatMap(({ failures }: { failures: { cases: { evidence: string }[] }[] }) => failures)).toEqual(
    [],
  );
  expect(runs.map(({ cases }: { cases: unknown }) => cases)).toMatchObject([
    { planned: 3, passed: 3 },
    { planned: 2, passed: 2 },
    { planned: 1, passed: 1 },
  ]);
  expect(exitCode).toBe(0);
  // As the reference names a fixture on the command line: by its path.
  const named = await exp('in-sandbox', 'evals/fixtures/button', '--sandbox', 'process');
  expect(named.runs).toMatchObject([{ cases: { planned: 1, passed: 1 } }]);
});
