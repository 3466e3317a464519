import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

const TASKS = ['one', 'two'].map((id) => ({ id, prompt: 'Do it.' }));

test('a part of the run that the configuration no longer has is what changed, not an unknown name', async () => {
  using project = makeProject({ tasks: TASKS });
  project.writeConfig({ variants: { plain: {}, other: {} } });
  expect(await project.whetstone(['run', '--seed', 's'])).toMatchObject({ exitCode: 0 });
  project.writeConfig({ variants: { plain: {}, renamed: {} } });
  project.writeTasks(TASKS.slice(1));
  expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      'This run cannot be resumed: 3 of 4 cases are no longer the same work (changed: task one, variant other).',
    ),
  });
});

test('a resumed run says that it keeps metric, baseline and equivalence of its start', async () => {
  using project = makeProject({ tasks: TASKS });
  const variants = { plain: {}, other: {} };
  project.writeConfig({ variants });
  expect(await project.whetstone(['run', '--seed', 's'])).toMatchObject({ exitCode: 0 });
  const same = await project.whetstone(['run', '--resume', 'latest']);
  expect(same.stderr).not.toContain('keeps');

  project.writeConfig({ variants, metric: 'tokens', equivalence: '10%', baseline: 'other' });
  const kept =
    'The run keeps what was declared before it started: metric pass_rate, not tokens; baseline plain, not other; equivalence none, not 0.1.';
  expect((await project.whetstone(['run', '--resume', 'latest'])).stderr).toContain(kept);
  const planned = await project.whetstone(['run', '--resume', 'latest', '--dry-run']);
  expect(planned.stdout).toContain(kept);
});
