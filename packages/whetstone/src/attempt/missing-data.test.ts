import { expect, test } from 'vitest';
import { makeProject } from '../cli/__fixtures__/project.ts';
import { missingDataAttacks } from '../testkit/attacks/missing-data-attacks.ts';

test('no agent turns its own failure into missing data, and the cases beside it are judged', async () => {
  const scripts = Object.fromEntries(missingDataAttacks.map(({ name, script }) => [name, script]));
  using project = makeProject({
    agents: { ...scripts, honest: 'echo done >> README.md' },
    tasks: [{ id: 'one', prompt: 'Say done.', validation: { commands: ['grep done README.md'] } }],
  });
  const { exitCode, stderr } = await project.whetstone(['run', '--jobs', '2']);
  expect(exitCode, stderr).toBe(1);
  const { rows } = project.latest();
  expect(
    Object.fromEntries(
      rows.map(({ agent_name, outcome, failure_class }) => [agent_name, [outcome, failure_class]]),
    ),
  ).toEqual({
    ...Object.fromEntries(missingDataAttacks.map(({ name, failure }) => [name, ['failed', failure]])),
    honest: ['passed', null],
  });
});
