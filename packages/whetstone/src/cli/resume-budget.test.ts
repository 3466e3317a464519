import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually, makeProject, type Project, readLines } from './__fixtures__/project.ts';

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

/** Kills a run once its agent has got as far as `place` says, and `calls` of its attempt are written down. */
async function killedAt(project: Project, args: readonly string[], place: string, calls: number) {
  const run = project.start(args);
  await eventually(place, () => existsSync(join(project.notes, place)));
  // A call is written down after its answer, and a kill between the two loses it.
  await eventually(`${calls} calls in the ledger`, () => {
    const [ledger] = globSync(join(project.runDirectories().at(-1) ?? '', 'cases/*/model-calls.jsonl'));
    return ledger !== undefined && readLines(ledger).length === calls;
  });
  process.kill(run.pid, 'SIGKILL');
  await run.finished;
}

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
  await killedAt(project, ['run'], 'first', 2);
  expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 1 });
  expect(figures(project)).toEqual([['error', 'harness', 4, 1]]);

  prepare(project, { only: loop }, 7);
  expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 0 });
  expect(figures(project)).toEqual([['passed', null, 7, 2]]);
});

/** Asks the model once, and by the number of the attempt meets an outage, hangs, or ends. */
const ASKING = `
echo x >> "$NOTES/attempts"
attempt=$(wc -l < "$NOTES/attempts")
ask() {
  node -e "require('node:http').request(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', headers: { 'x-api-key': process.env.ANTHROPIC_API_KEY, 'content-type': 'application/json' } }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).end(JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] }))"
}
ask || exit 1
case $attempt in
  1) ask || exit 1 ;;
  2|3) touch "$NOTES/hangs-$attempt"; exec tail -f /dev/null ;;
esac
`;

test('each attempt counts once, however many were retried or killed before', async () => {
  using project = makeProject({ tasks: [{ id: 'one', prompt: 'Ask.' }], agents: { asker: ASKING } });
  project.write({ 'script.mjs': "export default { name: 'one', play: () => ({ text: 'Hello.' }) };" });
  const gateway = { mode: 'script', script: './script.mjs', faults: ['503@every=2'] };
  const allow = (calls: number) =>
    project.writeConfig({ gateway: { ...gateway, run_budget: { calls } }, seed: 'fixed' });
  allow(3);
  const resume = ['run', '--resume', 'latest'];
  await killedAt(project, ['run'], 'hangs-2', 1);
  await killedAt(project, resume, 'hangs-3', 1);
  await project.whetstone(resume);
  expect(figures(project)).toEqual([['error', 'harness', 3, 3]]);
  const used = project.latest().rows[0];

  allow(4);
  await project.whetstone(resume);
  expect(figures(project)).toEqual([['passed', null, 4, 4]]);
  const { rows } = project.latest();
  const perCall = (used?.total_tokens ?? 0) / 3;
  expect(perCall).toBeGreaterThan(0);
  expect(rows[0]?.total_tokens).toBe(4 * perCall);
});
