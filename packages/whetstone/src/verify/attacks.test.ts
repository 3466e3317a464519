import { expect, test } from 'vitest';
import { attackProject } from './__fixtures__/attack-project.ts';

test('whoever rewrites the hidden tests gets no result, and no later case is judged by them', async () => {
  using project = attackProject('node', 'command', []);
  const rewrite = `for one in "$NOTES"/../hidden/node/test/*; do echo > "$one"; done`;
  project.write({ 'agents/honest.sh': `NOTES=${project.notes}\n${rewrite}` });
  const { exitCode, stderr } = await project.whetstone(['run']);
  const changed = `the hidden tests were changed while the run worked: ${project.root}/hidden/node/test/add.test.js`;
  expect(stderr).toContain(changed);
  expect(exitCode).toBe(3);
  const { rows } = project.latest();
  expect(rows.map(({ outcome, failure_class, evidence }) => [outcome, failure_class, evidence])).toEqual([
    ['error', 'tampered', changed],
  ]);
});

test('whoever has a canary of the hidden tests is marked, and counted in the report', async () => {
  using project = attackProject('node', 'command', []);
  const canary = '26b5c67b-86dc-4e62-9fa8-3f8ce1a7a1b0';
  project.write({
    'hidden/node/note.txt': `canary GUID ${canary}\n`,
    'agents/honest.sh': `cat ${project.root}/hidden/node/note.txt > found.txt\n`,
  });
  const { stdout } = await project.whetstone(['run']);
  const [row] = project.latest().rows;
  expect(row).toMatchObject({ outcome: 'failed', contaminated_by: [{ canary, where: 'patch' }] });
  expect(stdout.replace(/\s+/g, ' ')).toContain('1 case is contaminated: a canary of the hidden tests');
});
