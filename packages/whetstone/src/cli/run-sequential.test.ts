import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

const tasks = Array.from({ length: 8 }, (_, i) => ({ id: `task-${i + 1}`, prompt: 'Do it.' }));
const variants = {
  without: {},
  with: { overlays: [{ source: 'notes.md', target: 'AGENTS.md' }] },
};

describe('a sequential run', () => {
  let project: Project;
  beforeAll(() => {
    project = makeProject({
      agents: { amy: 'test -f AGENTS.md && echo done >> README.md' },
      tasks,
      config: { variants, evaluation: { commands: ['grep done README.md'] } },
    });
    project.write({ 'notes.md': 'Read the tests.\n' });
  });
  afterAll(() => project[Symbol.dispose]());

  test('ends at the first look at which the comparison is decided, and reports what it left out', async () => {
    const finished = await project.whetstone(['run', '--sequential', '--seed', 'one', '--jobs', '2']);
    const { manifest, rows, directory } = project.latest();
    const summary = JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8'));
    expect(manifest.looks?.map((look) => look.tasks.length)).toEqual([2, 2, 2, 2]);
    const left = new Set(manifest.looks?.[3]?.tasks);
    expect(rows.filter(({ task_id }) => left.has(task_id))).toEqual([]);
    expect(rows).toHaveLength(12);
    expect(summary).toMatchObject({
      cases: { planned: 16, finished: 12, not_run: 4, missing: 0 },
      sequential: { looks: 4, done: 3, planned_tasks: 8, analysed_tasks: 6, ended: 'decided' },
      comparisons: [{ verdict: 'better', tasks: 6, interval: { level: 1 - 0.01832 } }],
    });
    expect(finished.stderr).toContain(
      'Look 3 of 4, after 6 of 8 tasks; ends here, because every comparison is decided',
    );
    expect(finished.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'Planned: 8 tasks, 16 cases, pass rate, 4 looks. Ran: 12 cases, up to look 3 of 4, because every comparison was decided. Compared: 6 tasks.',
    );
  });

  test('that has ended has nothing left to resume', async () => {
    const before = project.latest();
    await project.whetstone(['run', '--resume', 'latest']);
    expect(project.latest().rows).toEqual(before.rows);
  });

  test('says in the dry run when it looks, and needs two variants and 8 tasks', async () => {
    const dry = await project.whetstone(['run', '--sequential', '--dry-run']);
    expect(dry.stdout).toContain('Looks       after 2, 4, 6 and 8 tasks');
    const few = await project.whetstone(['run', '--sequential', '--max-tasks', '7']);
    expect(few).toMatchObject({ exitCode: 2 });
    expect(few.stderr).toContain('over at least 8 tasks, and this one has 7 tasks');
    const one = await project.whetstone(['run', '--sequential', '--variant', 'with']);
    expect(one.stderr).toContain('and this one has only one variant');
  });
});
