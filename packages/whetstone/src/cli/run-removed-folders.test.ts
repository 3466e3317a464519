import { afterEach, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
afterEach(() => project[Symbol.dispose]());

test('hidden tests that are gone end the run, and the error accuses nobody: what removed them was not seen', async () => {
  project = makeProject({
    agents: { removing: 'rm -r "$NOTES/../hidden"' },
    tasks: [{ id: 'one', prompt: 'x', hidden_tests: 'hidden' }],
  });
  project.write({ 'hidden/test/check.txt': 'hidden\n' });
  const { exitCode, stderr } = await project.whetstone(['run']);
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(/The run was stopped after case \S+: the hidden tests .*, which is gone\.\n/);
  expect(stderr).toMatch(/^ {2}Find out what changed them: that agent, or something beside the run, /m);
});
