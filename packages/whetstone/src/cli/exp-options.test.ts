import { afterAll, expect, test } from 'vitest';
import { makeEvals, removeEvals } from './__fixtures__/eval-project.ts';
import { evalFile, experiment } from './__fixtures__/greeter.ts';

afterAll(removeEvals);

test('a sandbox that is not there is an error wherever it is named, and never another one', async () => {
  const project = makeEvals({
    'experiments/base.ts': experiment(),
    'experiments/confined.ts': experiment("\n  sandbox: 'lxc',\n"),
    'evals/one.eval.ts': evalFile("    await t.send('Ada');"),
  });
  const run = async (...args: string[]) => {
    const { exitCode, stderr } = await project.whetstone(['exp', '--dry-run', 'base', ...args]);
    return { exitCode, stderr };
  };
  expect(await run('--sandbox', 'process')).toMatchObject({ exitCode: 0 });
  expect(await run('--sandbox', 'docker')).toEqual({
    exitCode: 2,
    stderr:
      'The sandbox `docker` needs an image, and the configuration names none.\n  write `sandbox: { provider: docker, image: NAME }`, or `build: { context: FOLDER }` in place of `image`\n  More: whetstone errors sandbox-image-missing\n',
  });
  expect(await run('--sandbox', 'lxc')).toEqual({
    exitCode: 2,
    stderr: `This version has no sandbox "lxc".\n  sandboxes: auto, bubblewrap, docker, process, sandbox-runtime\n  More: whetstone errors sandbox-unknown\n`,
  });
  expect(await run('confined')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/experiments\/confined\.ts:30:12 +sandbox: there is no sandbox "lxc"/),
  });
  project.write({
    'whetstone.config.ts': "export default {\n  sandbox: { provider: 'lxc' },\n};\n",
  });
  expect(await run()).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/whetstone\.config\.ts:2:24 +sandbox\.provider: there is no sandbox "lxc"/),
  });
});

test('the fields of an experiment are checked with their lines, and a key without effect is a warning', async () => {
  const project = makeEvals({
    'experiments/wrong.ts': experiment("\n  runs: 'three',\n  setup: 'later',\n  timeoutMs: -1,\n"),
    'evals/one.eval.ts': evalFile("    await t.send('Ada');"),
  });
  const wrong = await project.whetstone(['exp', 'wrong']);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toMatch(/wrong\.ts:30:9 +runs: expected a number, got the text "three"/);
  expect(wrong.stderr).toMatch(/wrong\.ts:31:10 +setup: must be a function/);
  expect(wrong.stderr).toMatch(/wrong\.ts:32:14 +timeoutMs: must be more than 0/);
  project.write({
    'experiments/base.ts': experiment('\n  run: 3,\n'),
    'whetstone.config.ts': "export default {\n  sed: 'a',\n};\n",
  });
  const { exitCode, stderr } = await project.whetstone(['exp', 'base', '--dry-run']);
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/config\.ts:2:3 +warning sed: unknown key, which has no effect/);
  expect(stderr).toMatch(/base\.ts:30:3 +warning run: unknown key, which has no effect/);
  expect(stderr).toContain('did you mean runs?');
});

test('the command line goes before the experiment', async () => {
  const project = makeEvals({
    'experiments/base.ts': experiment("model: 'model-1', timeoutMs: 1, runs: 5"),
    'evals/one.eval.ts': evalFile(
      "    await t.send('Write it.');\n    t.fileChanged('out.txt');\n    t.log(t.model);",
    ),
    'whetstone.config.ts': "export default { gateway: { mode: 'script', script: 'model.yaml' } };\n",
    'model.yaml': `
name: model
rules:
  - steps:
      - text: I will write it.
        calls:
          - { tool: shell, command: 'echo done > out.txt' }
      - text: It is there.
`,
  });
  const { exitCode, stdout, stderr } = await project.whetstone([
    ...['exp', '--agent', 'loop', '--model', 'gpt-5.2', '--runs', '2', '--timeout', '30', '--budget', '1'],
    ...['--jobs', '2', '--keep-workspace', '--sandbox', 'process', '--json'],
  ]);
  expect(stderr).toContain('2 cases');
  const { one: row } = project.rows();
  expect(row).toMatchObject({ outcome: 'passed', agent_kind: 'loop', trial_index: 2 });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).runs).toMatchObject([{ cases: { planned: 2, passed: 2 } }]);
  expect(project.read('one', 'eval.log')).toBe('gpt-5.2\n');
  expect(project.read('one', 'workspace/out.txt')).toBe('done\n');
});

test('an agent is known by its other names as well, and one that is not there is an error', async () => {
  const project = makeEvals({
    'experiments/base.ts': experiment(),
    'experiments/alias.ts': "export default { agent: { kind: 'anthropic:claude-code' } };\n",
    'experiments/wrong.ts': "export default { agent: { kind: 'claude' } };\n",
    'evals/one.eval.ts': evalFile("    await t.send('Ada');"),
  });
  const preview = async (...args: string[]) => {
    const { stdout, stderr } = await project.whetstone(['exp', '--dry-run', ...args]);
    return stdout + stderr;
  };
  expect(await preview('base', '--agent', 'openai:codex-desktop')).toContain('__codex-app-server__trial-1');
  expect(await preview('alias')).toContain('__claude-agent-sdk__trial-1');
  expect(await preview('wrong')).toContain('There is no agent "claude".');
});

test('a watch refuses an agent that would call a real model at each change', async () => {
  const project = makeEvals({
    'experiments/base.ts': "export default { agent: { kind: 'loop', profile: 'openai' } };\n",
    'evals/one.eval.ts': evalFile("    await t.send('Ada');"),
  });
  // What `--watch` starts.
  const { exitCode, stderr } = await project.whetstone(['exp', '--watched', 'first']);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/experiments\/base\.ts: A watch runs again at each change, and .*real model/);
  expect(stderr).toContain('`mode: replay`');

  project.write({ 'experiments/base.ts': experiment("judge: { model: 'openai/judge-1' }") });
  const judged = await project.whetstone(['exp', '--watched', 'first']);
  expect(judged).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('or its judge would call') });
});
