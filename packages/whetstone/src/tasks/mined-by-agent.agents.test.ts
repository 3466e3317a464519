import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeProject } from '../cli/__fixtures__/project.ts';
import { makeHistory } from './__fixtures__/history.ts';
import { PREPARE_VITEST } from './__fixtures__/prepare-vitest.ts';
import { smallProject } from './__fixtures__/small-project.ts';

const installed = join(import.meta.dirname, '../../../../.cache');
const project = makeProject();
const repo = makeHistory(
  smallProject({ url: 'http://127.0.0.1:1/', counter: join(project.root, 'counter') }),
);
afterAll(() => {
  project[Symbol.dispose]();
  rmSync(repo, { recursive: true, force: true });
});

const PLAY = join(import.meta.dirname, '../../../../scripts/play-tasks.ts');

test('a released agent that makes the patch of the commit passes every mined task', async () => {
  const environment = { XDG_CACHE_HOME: installed };
  const prepare = PREPARE_VITEST.flatMap((one) => ['--prepare', one]);
  const limits = ['--timeout', '15', '--repeat', '2', '--jobs', '2'];
  const mined = await project.whetstone(
    ['tasks', 'mine', '--repo', repo, '--out', 'tasks/mined', ...limits, ...prepare],
    environment,
  );
  expect(mined.exitCode, mined.stderr).toBe(0);
  const args = [PLAY, join(project.root, 'tasks/mined'), '--repo', repo, '--jobs', '2', ...prepare];
  const played = spawnSync(process.execPath, args, {
    env: { ...project.environment, ...environment },
    encoding: 'utf8',
  });
  expect(played.stdout, played.stderr).toMatch(/^(passed .*\n){6}\n6 of 6 tasks passed \(pi\)\n$/);
  expect(played.status).toBe(0);
}, 900_000);
