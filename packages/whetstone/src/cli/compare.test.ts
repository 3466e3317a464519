import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

test('variants and runs are compared, tagged, noted and gated', async () => {
  const tasks = ['one', 'two', 'three', 'four', 'five'].map((id) => ({ id, prompt: id }));
  using project = makeProject({
    tasks,
    agents: { writer: 'test -f RULES.md && echo done > DONE; true' },
    config: {
      variants: { baseline: {}, rules: { overlays: [{ source: 'rules.md', target: 'RULES.md' }] } },
      evaluation: { commands: ['test -f DONE'] },
    },
  });
  project.write({ 'rules.md': 'Finish what you begin.\n' });
  const json = async (...args: string[]) => {
    const { stdout, exitCode } = await project.whetstone([...args, '--json']);
    return { exitCode, ...JSON.parse(stdout) };
  };
  await project.whetstone(['run', '--jobs', '4']);

  const better = await json('compare', 'baseline', 'rules', '--gate', 'delta > -5pp');
  expect(better).toMatchObject({
    exitCode: 0,
    pairs: [{ comparison: { difference: 1, verdict: 'better' }, failures: [{ a: 5, b: 0 }] }],
    gate: { status: 'passed', bound: -0.05 },
  });
  expect(better.pairs[0].flips).toHaveLength(5);
  expect(await json('compare', 'rules', 'baseline', '--gate', 'delta > -5pp')).toMatchObject({
    exitCode: 1,
    gate: { status: 'failed' },
  });
  const shown = await project.whetstone([
    'compare',
    'latest:baseline',
    'latest:writer/rules',
    '--gate',
    'delta > 70pp',
  ]);
  expect(shown.exitCode).toBe(4);
  expect(shown.stdout).toContain(
    'rules (writer) against baseline (writer)\n  better: +100 pp for tasks like these',
  );
  expect(shown.stdout).toMatch(/ −100 +┊ +├─+● \+100 pp/);
  expect(shown.stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /gate delta > 70pp: inconclusive: .* tasks like these would settle it/,
  );

  const [first = ''] = project.runDirectories();
  expect(await json('runs', 'tag', 'latest', 'before')).toMatchObject({ directory: first, tags: ['before'] });
  await json('runs', 'note', 'before', 'without the new prompt');
  project.writeTasks(tasks.map((task) => (task.id === 'five' ? { ...task, prompt: 'another' } : task)));
  await project.whetstone(['run', '--jobs', '4', '--variant', 'rules']);

  const across = await json('compare', 'before', 'latest');
  expect(across).toMatchObject({
    a: { run_id: basename(first) },
    excluded_tasks: [{ task: 'five', why: 'changed' }],
    unpaired_arms: [{ side: 'a', variant: 'baseline' }],
    pairs: [{ comparison: { tasks: 4, difference: 0 }, flips: [] }],
    differences: [],
  });
  expect(across.caveats.join()).toContain('did not run side by side');

  const { runs } = await json('runs');
  expect(runs).toMatchObject([
    { tags: [] },
    { id: basename(first), tags: ['before'], note: 'without the new prompt' },
  ]);
  const listed = await project.whetstone(['runs']);
  expect(listed.stdout).toContain(
    `${basename(first)} [before]\n  writer · baseline, rules · 5 of 10 cases passed`,
  );

  // The tag moves, so that it always stands for one run.
  expect((await project.whetstone(['runs', 'tag', 'latest', 'before'])).stdout).toContain(
    `It was the tag of ${first}.`,
  );
  expect(JSON.parse(readFileSync(join(first, 'tags.json'), 'utf8'))).toEqual({
    tags: [],
    note: 'without the new prompt',
  });

  // Before the next run: what it takes, and what the verdicts of this suite are worth.
  expect(await json('plan', '--effect', '20pp', '--trials', '2', '--run', first)).toMatchObject({
    source: { run_id: basename(first), tasks: 5, one_trial: true },
    choices: [{ trials: 2, tasks: expect.any(Number), cost_usd: null }],
    with_tasks: { tasks: 5 },
  });
  expect(await json('calibrate', first, '--replays', '50')).toMatchObject({
    replays: 50,
    arms: [{ variant: 'baseline', calibration: { tasks: 5, found: {} } }, { variant: 'rules' }],
  });

  const refused = async (...args: string[]) => {
    const { exitCode, stderr } = await project.whetstone(args);
    return `${exitCode} ${stderr}`;
  };
  expect(await refused('compare', 'latest', 'ruels')).toContain(
    'has no arm ruels.\n  Its variants: rules. Its agents: writer.',
  );
  expect(await refused('compare', 'latest', 'before')).toContain(
    '2 latest and before are the same arms of the same run.',
  );
  expect(await refused('compare', 'baseline', 'rules', '--gate', 'delta < 5pp')).toContain(
    'It must be a bound such as "delta > -5pp"',
  );
  expect(await refused('plan', '--effect', '200')).toContain(
    'It must be a number of points between 0 and 100',
  );
  expect(await refused('runs', 'tag', 'latest', 'a b')).toContain('2 "a b" cannot be a tag.');
});
