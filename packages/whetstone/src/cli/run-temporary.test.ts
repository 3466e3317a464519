import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

test('TMPDIR and HOME may be relative', async () => {
  using project = makeProject();
  project.writeConfig({ environment: { prepare: ['true'] } });
  const ran = await project.whetstone(['run'], { TMPDIR: 'tmp', HOME: 'home' });
  expect(ran).toMatchObject({ exitCode: 0 });
  expect(readdirSync(join(project.root, 'home'))).toEqual(['.cache']);
});

test('a run whose temporary folder is emptied ends with the error of its case, and can be resumed', async () => {
  using project = makeProject({
    agents: {
      slow: 'touch $NOTES/started; while [ ! -e $NOTES/gone ]; do sleep 0.1; done; sleep 0.6',
    },
  });
  const run = project.whetstone(['run']);
  await vi.waitFor(() => expect(existsSync(join(project.notes, 'started'))).toBe(true), { timeout: 20_000 });
  for (const name of readdirSync(project.temporary)) {
    rmSync(join(project.temporary, name), { recursive: true, force: true });
  }
  project.write({ 'notes/gone': '' });
  const { stderr, exitCode } = await run;
  expect(stderr).not.toContain('failed unexpectedly');
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('More: whetstone errors'),
  });
  expect(project.latest().rows[0]).toMatchObject({ outcome: 'error' });
  expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 0 });
});
