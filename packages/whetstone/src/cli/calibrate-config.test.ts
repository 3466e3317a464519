import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

const tasks = ['one', 'two', 'three', 'four', 'five'].map((id) => ({ id, prompt: `Do ${id}.` }));

test('calibrate runs the baseline of a config against itself, and plants an effect', async () => {
  using project = makeProject({
    // Passes in every other trial, whatever the task.
    agents: {
      amy: 'n=$(cat $NOTES/n 2>/dev/null || echo 0); echo $((n+1)) > $NOTES/n; [ $((n % 2)) = 0 ] && echo done >> README.md; true',
    },
    tasks,
    config: {
      variants: { without: {}, with: { overlays: [{ source: 'notes.md', target: 'AGENTS.md' }] } },
      evaluation: { commands: ['grep done README.md'] },
    },
  });
  project.write({ 'notes.md': 'Read the tests.\n' });
  const args = [
    'calibrate',
    'whetstone.yaml',
    '--trials',
    '1',
    '--max-tasks',
    '4',
    '--replays',
    '200',
    '--json',
  ];
  const { stdout, exitCode } = await project.whetstone(args);
  expect(exitCode).toBe(0);
  const found = JSON.parse(stdout);
  const { rows, manifest, directory } = project.latest();
  expect(rows).toHaveLength(8);
  expect(new Set(rows.map(({ variant }) => variant))).toEqual(new Set(['without']));
  expect(found).toMatchObject({ run_id: manifest.run_id, directory, trials: 1, interrupted: false });
  expect(found.against_itself).toMatchObject([{ variant: 'without', baseline: 'without', tasks: 4 }]);
  expect(found.arms).toMatchObject([
    {
      agent: 'amy',
      variant: 'without',
      tasks: 4,
      trials: 2,
      calibration: { false_alarms: { replays: 200 } },
    },
  ]);
  const again = await project.whetstone(['calibrate', 'nowhere.yaml']);
  expect(again).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('this file does not exist') });
});
