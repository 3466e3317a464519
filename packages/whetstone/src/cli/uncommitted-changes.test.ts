import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

test('runs inside the repository are not uncommitted changes of it', async () => {
  using project = makeProject();
  const output = join(project.repo, '.whetstone/runs');
  project.writeConfig({ output_dir: output });
  for (let count = 0; count < 2; count++) {
    const { exitCode, stdout } = await project.whetstone(['run', '--task-id', 'one']);
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain('uncommitted changes');
  }
});
