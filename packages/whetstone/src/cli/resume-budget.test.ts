import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually, makeProject, type Project } from './__fixtures__/project.ts';

const TASK = { id: 'one', prompt: 'Make DONE.', validation: { commands: ['test -f DONE'] } };
const loop = { kind: 'loop', profile: 'anthropic' };

/** Three calls. The second one hangs where `first` can be made. */
const scriptOf = (first: string): string => `export default {
  name: 'maker',
  play({ step }) {
    if (step === 0) return { calls: [{ tool: 'shell', command: 'ls' }] };
    if (step === 1) {
      return { calls: [{ tool: 'shell', command: "mkdir '${first}' && tail -f /dev/null; echo > DONE" }] };
    }
    return { text: 'It is done.' };
  },
};`;

function prepare(project: Project, agents: Record<string, unknown>, calls: number): void {
  const gateway = { mode: 'script', script: './script.mjs', run_budget: { calls } };
  project.writeConfig({ agents, gateway, seed: 'fixed' });
}

const figures = (project: Project) =>
  project
    .latest()
    .rows.map((row) => [row.outcome, row.failure_class, row.model_calls, row.retries])
    .sort();

test('a case that meets the end of the run’s budget is missing, and a resumed run counts what was used', async () => {
  using project = makeProject({ tasks: [TASK] });
  project.write({ 'script.mjs': scriptOf('/nowhere/at/all'), 'notes/x': '' });
  const agents = { first: loop, second: loop };
  prepare(project, agents, 4);
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 1 });
  const passed = ['passed', null, 3, 0];
  expect(figures(project)).toEqual([['error', 'harness', 1, 0], passed]);
  const missing = project.latest().rows.find(({ outcome }) => outcome === 'error');
  expect(missing?.evidence).toContain('the budget of the run is used up: raise `run_budget`');

  expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 1 });
  expect(figures(project)).toEqual([['error', 'harness', 1, 1], passed]);

  prepare(project, agents, 7);
  expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 0 });
  expect(figures(project)).toEqual([passed, ['passed', null, 4, 2]]);
});

test('what a killed attempt used counts in the row of its case, and in the budget', async () => {
  using project = makeProject({ tasks: [TASK] });
  const first = join(project.notes, 'first');
  project.write({ 'script.mjs': scriptOf(first), 'notes/x': '' });
  prepare(project, { only: loop }, 4);
  const run = project.start(['run']);
  await eventually('an agent that hangs', () => existsSync(first));
  process.kill(run.pid, 'SIGKILL');
  await run.finished;
  expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 1 });
  expect(figures(project)).toEqual([['error', 'harness', 4, 1]]);

  prepare(project, { only: loop }, 7);
  expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 0 });
  expect(figures(project)).toEqual([['passed', null, 7, 2]]);
});
