import { expect, test } from 'vitest';
import { makeProject, readLines } from './__fixtures__/project.ts';

test('a task without side effects fails the agent that changes a file, and only that agent', async () => {
  const project = makeProject({
    tasks: [{ id: 'look', prompt: 'Only look.', side_effects: 'none' }],
    config: {
      agents: {
        reader: { kind: 'custom', command: 'git status' },
        writer: { kind: 'custom', command: 'echo x > new.txt' },
      },
    },
  });
  const { stderr } = await project.whetstone(['run', '--jobs', '2']);
  const [run = ''] = project.runDirectories();
  const rows = readLines(`${run}/results.jsonl`);
  expect(rows, stderr).toEqual([
    expect.objectContaining({ agent_name: 'reader', status: 'completed' }),
    expect.objectContaining({ agent_name: 'writer', status: 'agent_failed', failure_class: 'agent' }),
  ]);
  expect(JSON.stringify(rows[1])).toContain('side effects are not allowed: new.txt (added)');
});
