import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeEvals, removeEvals } from './__fixtures__/eval-project.ts';
import { makeProject, readLines } from './__fixtures__/project.ts';

afterAll(removeEvals);

/** A log as Inspect writes it with `--log-format json`. `values`: the score of each sample. */
const inspectLog = (model: string, values: readonly unknown[]) => ({
  version: 2,
  status: 'success',
  eval: { eval_id: 'e', run_id: 'r', task: 'repair', task_id: 't', model },
  samples: values.map((value, index) => ({
    ...{ id: index + 1, epoch: 1, input: 'Fix it.', target: '' },
    messages: [
      { role: 'user', content: `Fix ${index + 1}.` },
      {
        role: 'assistant',
        content: 'Done.',
        tool_calls: [{ id: 'c', function: 'bash', arguments: { cmd: 'npm test' }, type: 'function' }],
      },
    ],
    ...(value === null
      ? { error: { message: 'the sandbox died', traceback: '' } }
      : { scores: { tests: { value } } }),
    model_usage: { [model]: { input_tokens: 100, output_tokens: 20, total_tokens: 120 } },
  })),
});

test('logs of Inspect become runs that can be compared, without anything that the log does not say', async () => {
  using project = makeProject();
  const values = { old: ['C', 'I', 'I', 'I', 'I', null], new: ['C', 'C', 'C', 'C', 1, 0.5] };
  for (const [name, ofSamples] of Object.entries(values))
    project.write({ [`${name}.json`]: JSON.stringify(inspectLog('openai/example', ofSamples)) });
  const imported = await project.whetstone([
    'runs',
    'import',
    'old.json',
    '--variant',
    'old',
    '--tag',
    'before',
  ]);
  expect(imported.exitCode).toBe(0);
  const { manifest, rows } = project.latest();
  expect(manifest).toMatchObject({
    imported_from: { tool: 'inspect', path: join(project.root, 'old.json') },
    ...{ config_hash: null, machine: null, baseline: 'old' },
  });
  expect(rows.map(({ outcome }) => outcome)).toEqual([
    'passed',
    'failed',
    'failed',
    'failed',
    'failed',
    'error',
  ]);
  expect(rows[0]).toMatchObject({
    ...{ task_id: 'repair/1', agent_name: 'openai/example', started_at: null, duration_seconds: null },
    ...{ total_tokens: 120, cost_usd: null, model_calls: null, tool_calls: 1, score: 1, max_score: 1 },
  });
  expect(rows[5]).toMatchObject({ failure_class: 'harness', evidence: 'the sandbox died' });
  expect(JSON.stringify({ manifest, rows })).not.toContain('1970');
  await project.whetstone(['runs', 'import', 'new.json', '--variant', 'new']);
  const compared = await project.whetstone(['compare', 'before:old', 'latest:new', '--json']);
  const { pairs } = JSON.parse(compared.stdout);
  expect(pairs[0].comparison).toMatchObject({ tasks: 5, difference: 0.8 });
  for (const command of [
    ['show', 'latest'],
    ['report', 'latest'],
    ['report', 'latest', '--format', 'junit'],
  ])
    expect((await project.whetstone(command)).exitCode).toBe(0);
  const again = await project.whetstone(['run', '--resume', 'latest']);
  expect(again.stderr).toContain('no agent ran in it');
  const trees = await project.whetstone(['rescore', 'latest', '--repeat', '2', '-c', 'whetstone.yaml']);
  expect(trees.stderr).toContain('it has no trees to judge');
});

test('one eval judges the transcripts of an imported run, whatever it sends', async () => {
  const project = makeEvals({
    'evals/runs-tests.eval.ts': `
      import { defineEval } from 'whetstone';
      export default defineEval({ async test(t) {
        await t.send('Fix it.');
        t.calledTool('bash', { input: { cmd: 'npm test' } });
      } });`,
    'old.json': JSON.stringify(inspectLog('openai/example', ['C', 'I', 'I', 'I'])),
  });
  await project.whetstone(['runs', 'import', 'old.json']);
  const rescored = await project.whetstone(['rescore', 'latest', '--eval', 'evals/runs-tests.eval.ts']);
  expect(rescored.stdout).toContain('4 cases judged anew, 3 with another outcome');
  expect(rescored.stdout).toMatch(/failed → passed {2}repair/);
});

test('the folder of a Harbor job becomes a run, with the time and the tokens that it says', async () => {
  using project = makeProject();
  const trial = (name: string, result: object, files: Record<string, string> = {}) => {
    const folder = join(project.root, 'job', name);
    mkdirSync(join(folder, 'verifier'), { recursive: true });
    writeFileSync(join(folder, 'result.json'), JSON.stringify(result));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  };
  const common = {
    task_checksum: 'abc',
    agent_info: { name: 'codex', version: '1.0', model_info: { name: 'gpt-x', provider: 'openai' } },
    started_at: '2026-01-02T03:04:05Z',
    finished_at: '2026-01-02T03:05:05Z',
    agent_execution: { started_at: '2026-01-02T03:04:10Z', finished_at: '2026-01-02T03:04:40Z' },
  };
  trial('one__a', {
    ...{ ...common, task_name: 'one', verifier_result: { rewards: { reward: 1 } } },
    agent_result: { n_input_tokens: 100, n_cache_tokens: 40, n_output_tokens: 10, cost_usd: 0.5 },
  });
  trial('one__b', { ...common, task_name: 'one', verifier_result: { rewards: { reward: 0 } } });
  trial('two__a', {
    ...common,
    task_name: 'two',
    exception_info: { exception_type: 'Timeout', exception_message: 'too slow' },
  });
  trial(
    'two__b',
    { ...common, task_name: 'two', verifier_result: { rewards: { reward: 1 } } },
    {
      'verifier/reward.txt': '1',
      'verifier/reward.json': '{"reward": 0}',
    },
  );
  const { exitCode } = await project.whetstone(['runs', 'import', 'job']);
  expect(exitCode).toBe(0);
  const { rows, manifest } = project.latest();
  expect(manifest.agents).toMatchObject([{ name: 'codex', kind: 'harbor', version: '1.0' }]);
  expect(rows.map(({ task_id, trial_index, outcome }) => `${task_id} ${trial_index} ${outcome}`)).toEqual([
    ...['one 1 passed', 'one 2 failed', 'two 1 error', 'two 2 error'],
  ]);
  expect(rows[0]).toMatchObject({
    ...{ started_at: '2026-01-02T03:04:05Z', duration_seconds: 60, agent_duration_seconds: 30 },
    ...{ input_tokens: 60, cache_read_tokens: 40, total_tokens: 110, cost_usd: 0.5, tool_calls: null },
  });
  expect(rows[2]?.evidence).toBe('Timeout: too slow');
  expect(rows[3]?.evidence).toContain('both reward.txt and reward.json');
});

test('an import refuses what is of no known tool, and what could mean two things', async () => {
  using project = makeProject();
  const log = inspectLog('m', ['C']);
  project.write({ 'one.json': JSON.stringify(log), 'notes.txt': 'x', 'broken.json': '{' });
  const two = {
    ...log,
    samples: log.samples.map((one) => ({ ...one, scores: { a: { value: 'C' }, b: { value: 'I' } } })),
  };
  project.write({ 'two.json': JSON.stringify(two) });
  const said = async (...args: string[]) => {
    const { exitCode, stderr } = await project.whetstone(['runs', 'import', ...args]);
    expect(exitCode).toBe(2);
    return stderr;
  };
  expect(await said('notes.txt')).toContain('neither a log of Inspect nor the folder of a Harbor job');
  expect(await said('nowhere.eval')).toContain('There is no such file');
  expect(await said('two.json')).toContain('several scores: a, b');
  expect(await said('one.json', 'one.json')).toContain('is there twice');
  expect(project.runDirectories()).toEqual([]);
  await project.whetstone(['runs', 'import', 'two.json', '--score', 'b']);
  expect(project.latest().rows[0]?.outcome).toBe('failed');
  const events = join(
    project.latest().directory,
    'cases',
    project.latest().rows[0]?.case_id ?? '',
    'events.jsonl',
  );
  expect(readLines(events)).toContainEqual(expect.objectContaining({ type: 'action.called', name: 'bash' }));
  expect(readFileSync(events, 'utf8')).toContain('Fix 1.');
});
