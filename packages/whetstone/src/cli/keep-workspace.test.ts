import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { everything, makeProject } from './__fixtures__/project.ts';

test('--keep-workspace keeps what a case ended with, names it, and leaves no secret there', async () => {
  using project = makeProject({
    tasks: [
      { id: 'one', prompt: 'Do it.' },
      { id: 'two', prompt: 'Do it.', setup: ['echo half > made; exit 1'] },
    ],
    agents: {
      writer: {
        script:
          'echo "key=$SERVICE_KEY" > notes.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm x',
        keys: { env: { SERVICE_KEY: '$' + '{CANARY_KEY}' } },
      },
    },
  });
  const secrets = { CANARY_KEY: 'canary-secret-value' };
  expect(await project.whetstone(['run', '--keep-workspace'], secrets)).toMatchObject({ exitCode: 1 });
  const { directory, rows } = project.latest();
  expect(rows.map((row) => [row.task_id, row.outcome, row.workspace_path])).toEqual([
    ['one', 'passed', 'workspace'],
    ['two', 'error', 'workspace'],
  ]);
  const [one = '', two = ''] = rows.map((row) => join(directory, 'cases', row.case_id, 'workspace'));
  expect(readFileSync(join(one, 'notes.txt'), 'utf8')).toBe('key=[masked]\n');
  expect(readdirSync(one).sort()).toEqual(['README.md', 'notes.txt', 'test']);
  expect(readFileSync(join(two, 'made'), 'utf8')).toBe('half\n');
  expect(everything(directory).includes('canary-secret-value')).toBe(false);
  const shown = await project.whetstone(['show', 'latest', 'one']);
  expect(shown.stdout).toContain(`  ${one}\n`);
  expect(shown.stdout).toContain('workspace/notes.txt: secrets were masked');

  expect(await project.whetstone(['run', '--task-id', 'one'], secrets)).toMatchObject({ exitCode: 0 });
  const plain = project.latest();
  expect(plain.rows[0]).not.toHaveProperty('workspace_path');
  expect(existsSync(join(plain.directory, 'cases', rows[0]?.case_id ?? '', 'workspace'))).toBe(false);
});
