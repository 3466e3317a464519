import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from '../cli/__fixtures__/project.ts';

test('soft_evaluation writes what a reviewer needs, and scores nothing', async () => {
  const task = {
    id: 'one',
    title: 'First',
    prompt: 'Do it.',
    expected_outcome: { summary: 'It is done.', acceptance_points: ['README says so'] },
    soft_evaluation: { max_score: 5, rubric: [{ name: 'clarity', weight: 2 }] },
  };
  const off = { id: 'two', prompt: 'Do it.', soft_evaluation: { enabled: false } };
  using project = makeProject({ tasks: [task, off] });
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 0 });
  const { directory, rows } = project.latest();
  expect(rows.map((row) => row.soft_evaluation_status)).toEqual(['payload_generated', undefined]);
  const file = join(directory, 'cases/one__baseline__writer__trial-1/soft-evaluation.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    case: { task_id: 'one', variant: 'baseline', agent_name: 'writer', status: 'completed' },
    task: { title: 'First', prompt: 'Do it.' },
    expected_outcome: { summary: 'It is done.', acceptance_points: ['README says so'] },
    rubric: [{ name: 'clarity', weight: 2, description: '' }],
    max_score: 5,
    touched_paths: ['README.md'],
    patch_excerpt: expect.stringContaining('+done'),
    validation: { status: 'passed', confidence: 'high' },
    hard_evaluation: { status: 'not_configured', score: 0, max_score: 0 },
  });
  expect((await project.whetstone(['show', 'latest', 'one'])).stdout).toContain(file);
});
