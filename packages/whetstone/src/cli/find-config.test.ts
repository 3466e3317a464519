import { mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommandLine } from './__fixtures__/command-line.ts';
import { makeProject } from './__fixtures__/project.ts';

test('the config, its runs and its .env are found from a folder below', async () => {
  using project = makeProject();
  project.writeConfig({
    output_dir: undefined,
    agents: {
      asks: { kind: 'custom', command: 'test "$KEY" = from-the-file', env: { KEY: reference('MY_KEY') } },
    },
  });
  project.write({ '.env': 'MY_KEY=from-the-file\n' });
  const cwd = join(project.root, 'a/b');
  mkdirSync(cwd, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: project.temporary };
  const whetstone = (args: string[], more = {}) => runCommandLine({ args, cwd, env: { ...env, ...more } });

  const valid = await whetstone(['validate-config', '--strict']);
  expect(valid).toMatchObject({ exitCode: 0 });
  const ran = await whetstone(['run', '--task-id', 'one']);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(await whetstone(['run', '--task-id', 'one'], { MY_KEY: 'set already' })).toMatchObject({
    exitCode: 1,
  });
  expect(readdirSync(cwd)).toEqual([]);
  expect(readdirSync(join(project.root, '.whetstone/runs'))).toHaveLength(2);
  expect(await whetstone(['show', 'latest'])).toMatchObject({ exitCode: 0 });
});

test('the search ends at the root of the repository', async () => {
  using project = makeProject();
  const cwd = join(project.root, 'other');
  mkdirSync(join(cwd, '.git'), { recursive: true });
  const { stderr, exitCode } = await runCommandLine({ args: ['run'], cwd, env: { PATH: process.env.PATH } });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    `There is no whetstone.yaml, context-eval.yaml or whetstone.config.ts in ${cwd} or above it.`,
  );
});

test('a .env that cannot be read is named', async () => {
  using project = makeProject();
  project.write({ '.env': Buffer.from([0xff, 0xfe]) });
  const { stderr, exitCode } = await project.whetstone(['run', '--dry-run']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('this file is not UTF-8 text');
  expect(stderr).toContain('.env');
});

const reference = (name: string): string => `\${${name}}`;

test('paths in a config that is a link start at the folder of the link', async () => {
  using project = makeProject();
  project.writeConfig({ output_dir: 'runs' });
  const shared = join(project.root, 'shared/whetstone.yaml');
  mkdirSync(join(project.root, 'shared'));
  renameSync(join(project.root, 'whetstone.yaml'), shared);
  symlinkSync(shared, join(project.root, 'whetstone.yaml'));
  project.write({ 'shared/tasks.yaml': 'tasks: [{ id: of-the-shared-folder, prompt: x }]\n' });
  const { exitCode } = await project.whetstone(['run']);
  expect([exitCode, readdirSync(join(project.root, 'shared'))]).toEqual([
    0,
    ['tasks.yaml', 'whetstone.yaml'],
  ]);
  expect(
    project
      .latest()
      .rows.map((row) => row.task_id)
      .toSorted(),
  ).toEqual(['one', 'two']);
});
