import { writeFileSync } from 'node:fs';
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

test('the configuration in the repository is not, but a change of what cases get is', async () => {
  using project = makeProject();
  writeFileSync(join(project.repo, 'notes.md'), 'Rules.\n');
  project.writeConfig({
    variants: { baseline: { overlays: [{ source: join(project.repo, 'notes.md'), target: 'AGENTS.md' }] } },
  });
  const { stdout } = await project.whetstone(['run', '--task-id', 'one']);
  expect(stdout).not.toContain('uncommitted changes');
  writeFileSync(join(project.repo, 'README.md'), 'Another project.\n');
  const changed = await project.whetstone(['run', '--task-id', 'one']);
  expect(changed.stdout).toContain('uncommitted changes');
});

test('neither is what init writes', async () => {
  using project = makeProject();
  const init = ['init', '-d', project.repo, '--agent-command', 'sh -c true'];
  expect(await project.whetstone(init)).toMatchObject({ exitCode: 0 });
  writeFileSync(join(project.repo, '.env'), 'SOME_KEY=x\n');
  const config = join(project.repo, 'whetstone.yaml');
  const { stdout, exitCode } = await project.whetstone(['run', '-c', config, '--variant', 'baseline']);
  expect(exitCode).toBe(1); // the stand-in does nothing
  expect(stdout).not.toContain('uncommitted changes');
});
