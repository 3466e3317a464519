import { rmSync } from 'node:fs';
import { WhetstoneError } from '@whetstone/errors';
import { expect, test } from 'vitest';
import { makeProject } from '../cli/__fixtures__/project.ts';
import { missingDataAttacks } from '../testkit/attacks/missing-data-attacks.ts';
import { makeRepo, makeTempDir } from '../workspace/__fixtures__/test-repo.ts';
import { createWorkspaces } from '../workspace/create-workspaces.ts';
import { resolveCommit } from '../workspace/repository.ts';
import { blameAgent } from './blame-agent.ts';

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

test('a grading that stops is a failure of the agent if an untouched workspace can be graded', async () => {
  const scratch = makeTempDir();
  const repo = makeRepo({ 'a.txt': 'a\n' });
  await using workspaces = await createWorkspaces({ repo, scratch, strategy: 'copy' });
  const snapshot = await workspaces.prepare(await resolveCommit(repo, 'HEAD'), []);
  await using workspace = await workspaces.create(snapshot);
  rmSync(workspace.path, { recursive: true });
  const error = await workspace.changes().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const scene = { workspace, workspaces, snapshot };
  expect(await blameAgent(error, { ...scene, isDone: true })).toEqual({
    status: 'failed',
    class: 'policy',
    evidence: expect.stringMatching(
      /^what the agent left cannot be read \(ENOENT.*; an untouched workspace can$/,
    ),
  });
  expect(await blameAgent(error, { ...scene, isDone: false })).toBeUndefined();
  const broken = new WhetstoneError('task-setup-failed', 'setup failed');
  expect(await blameAgent(broken, { ...scene, isDone: true })).toBeUndefined();
  for (const folder of [scratch, repo]) rmSync(folder, { recursive: true, force: true });
});
