import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

const tasks = Array.from({ length: 12 }, (_, i) => ({ id: `task-${i + 1}`, prompt: 'Do it.' }));

describe('a run with a bridge to a saved baseline', () => {
  let project: Project;
  let saved: string;
  beforeAll(async () => {
    project = makeProject({
      agents: { amy: 'test -f AGENTS.md && echo done >> README.md' },
      tasks,
      config: {
        variants: { without: {}, with: { overlays: [{ source: 'notes.md', target: 'AGENTS.md' }] } },
        evaluation: { commands: ['grep done README.md'] },
      },
    });
    project.write({ 'notes.md': 'Read the tests.\n' });
    await project.whetstone(['run', '--variant', 'without']);
    saved = project.latest().manifest.run_id;
    await project.whetstone(['runs', 'tag', saved, 'main']);
  });
  afterAll(() => project[Symbol.dispose]());

  test('runs the baseline on some tasks, beside the others, and says how to compare all of them', async () => {
    const dry = await project.whetstone(['run', '--bridge', 'main', '--dry-run']);
    expect(dry.stdout).toContain(`Bridge      without runs on 10 of 12 tasks; run ${saved} has the rest`);
    const finished = await project.whetstone([
      'run',
      '--bridge',
      'main',
      '--bridge-tasks',
      '4',
      '--seed',
      'one',
    ]);
    const { manifest, rows } = project.latest();
    expect(manifest.bridge).toMatchObject({ run_id: saved, tasks: { length: 4 } });
    expect(rows).toHaveLength(16);
    const said = finished.stdout.replaceAll(/\s+/g, ' ');
    const command = ['compare', `${saved}:without`, `${manifest.run_id}:with`];
    expect(said).toContain(`whetstone ${command.join(' ')}`);
    expect(said).not.toContain('without a result in one of the arms');
    const compared = await project.whetstone([...command, '--json']);
    const { pairs, left_out } = JSON.parse(compared.stdout);
    expect(pairs[0].comparison).toMatchObject({
      ...{ verdict: 'better', tasks: 12, difference: 1 },
      bridge: { variant: 'without', tasks: 4, trials: 4, drift: 0 },
    });
    expect(left_out).toEqual([]);
    const resumed = await project.whetstone(['run', '--resume', 'latest']);
    expect(resumed).toMatchObject({ stderr: expect.not.stringContaining('cannot be resumed') });
  });

  test('refuses a run that has another baseline, too few tasks, and a count without a run', async () => {
    const few = await project.whetstone(['run', '--bridge', 'main', '--bridge-tasks', '3']);
    expect(few).toMatchObject({ exitCode: 2 });
    expect(few.stderr).toContain('A bridge has at least 4 tasks of the 12 of the run, and 3 were asked for');
    const alone = await project.whetstone(['run', '--bridge-tasks', '5']);
    expect(alone.stderr).toContain('--bridge-tasks belongs to --bridge');
    const nowhere = await project.whetstone(['run', '--bridge', 'nowhere']);
    expect(nowhere.stderr).toContain('nowhere');
    await project.whetstone(['run', '--variant', 'with', '--task-id', 'task-1']);
    const other = await project.whetstone(['run', '--bridge', 'latest', '--dry-run']);
    expect(other.stderr).toContain('it does not have, or has another, variant without');
  });
});
