import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

const BEFORE = 'export const half = (n) => n / 3;\n';
const AFTER = 'export const half = (n) => n / 2;\n';

/** The folder of a trial as Harbor leaves it. `tree`: what it collected of the folder /app. */
const trialOf = (
  name: string,
  {
    reward,
    status = 'ok',
    tree = {},
    files = {},
    ...more
  }: {
    reward?: number;
    status?: string;
    tree?: Record<string, string>;
    files?: Record<string, string>;
    error?: string;
  },
) => {
  const result = {
    ...{ task_name: 'someone/half', task_checksum: 'abc', agent_info: { name: 'codex', version: '1.0' } },
    ...(reward !== undefined && { verifier_result: { rewards: { reward } } }),
    ...(more.error && { exception_info: { exception_type: more.error, exception_message: 'no' } }),
  };
  const logs = { source: '/logs/artifacts', destination: 'artifacts/logs/artifacts', type: 'directory' };
  const app = { source: '/app', destination: 'artifacts/app', type: 'directory', exclude: ['*.lock'] };
  const all = {
    'result.json': JSON.stringify(result),
    'artifacts/manifest.json': JSON.stringify([
      { ...logs, status: 'empty', service: null },
      { ...app, status, service: null },
    ]),
    ...Object.fromEntries(Object.entries(tree).map(([path, text]) => [`artifacts/app/${path}`, text])),
    ...files,
  };
  return Object.fromEntries(Object.entries(all).map(([path, text]) => [`job/${name}/${path}`, text]));
};

const makeJob = (): Project => {
  const project = makeProject({
    files: { 'src/half.js': BEFORE, 'src/old.js': '', 'my.lock': '1', 'package.json': '{"type":"module"}\n' },
    config: { evaluation: {} },
    tasks: [
      {
        ...{ id: 'half', prompt: 'Halve it, and remove src/old.js.', hidden_tests: 'hidden' },
        setup: ['echo made > made.txt'],
        validation: { commands: ['node check.js'] },
      },
    ],
  });
  project.write({
    'hidden/check.js': `
      import assert from 'node:assert';
      import { existsSync } from 'node:fs';
      import { half } from './src/half.js';
      assert.equal(half(4), 2);
      assert.deepEqual(['src/old.js', 'my.lock', 'made.txt'].map((one) => existsSync(one)), [false, true, true]);`,
  });
  return project;
};

const good = { 'src/half.js': AFTER, 'package.json': '{"type":"module"}\n', 'made.txt': 'made\n' };
const untouched = { ...good, 'src/half.js': BEFORE, 'src/old.js': '' };

describe('rescore of the trees that a Harbor job collected', () => {
  let project: Project;
  beforeAll(async () => {
    project = makeJob();
    project.write({
      ...trialOf('half__1', { reward: 0, tree: good }),
      ...trialOf('half__2', { reward: 1, tree: untouched }),
      ...trialOf('half__3', { reward: 1, status: 'failed' }),
      ...trialOf('half__4', { error: 'EnvironmentStartTimeoutError', status: 'skipped' }),
      ...trialOf('half__5', { error: 'VerifierTimeoutError', tree: good }),
      ...trialOf('half__6', { reward: 1, tree: { ...good, 'notes.txt': 'the key is key-0123456789\n' } }),
      ...trialOf('half__7', { reward: 1 }),
    });
    symlinkSync(
      join(project.root, 'job/half__1/artifacts/app'),
      join(project.root, 'job/half__7/artifacts/app'),
    );
    const env = { OPENAI_API_KEY: 'key-0123456789' };
    const { exitCode } = await project.whetstone(['runs', 'import', 'job', '--tag', 'job'], env);
    expect(exitCode).toBe(0);
  });
  afterAll(() => project[Symbol.dispose]());

  test('are judged by the hidden tests, and where there is no tree the case says so and has no verdict', async () => {
    const imported = project.latest();
    expect(imported.manifest.imported_from).toMatchObject({ tool: 'harbor', trees_leave_out: ['*.lock'] });
    expect(imported.rows.map(({ outcome, failure_class }) => failure_class ?? outcome)).toEqual([
      ...['agent', 'passed', 'passed', 'harness', 'verifier', 'passed', 'passed'],
    ]);
    const rescored = await project.whetstone(['rescore', 'job', '--json']);
    expect(rescored.exitCode).toBe(0);
    expect(JSON.parse(rescored.stdout)).toMatchObject({ rescored: 6, kept: 1, left_out: [] });
    const { rows, manifest } = project.latest();
    expect(rows.map(({ outcome, failure_class }) => failure_class ?? outcome)).toEqual([
      ...['passed', 'agent', 'verifier', 'harness', 'passed', 'verifier', 'verifier'],
    ]);
    expect(rows[0]).toMatchObject({
      ...{ changed_files: 2, insertions: 1, deletions: 1, touched_paths: ['src/half.js', 'src/old.js'] },
      ...{ judged_by: 'exit-codes', confidence: 'high', agent_name: 'codex' },
    });
    expect(rows[0]?.repo_ref).toMatch(/^[0-9a-f]{40}$/);
    const { directory } = project.latest();
    const patch = readFileSync(join(directory, 'cases', rows[0]?.case_id ?? '', 'changes.patch'), 'utf8');
    expect(patch).toContain('+export const half = (n) => n / 2;');
    expect(rows[1]?.evidence).toContain('`node check.js` exited 1');
    expect(rows.slice(2).map(({ evidence }) => evidence)).toEqual([
      'there is no tree of it (workspace: the job could not collect /app of this trial (failed))',
      'EnvironmentStartTimeoutError: no',
      null,
      'its tree is not as the agent left it (workspace/notes.txt: secrets were masked)',
      'there is no tree of it (workspace: /app of this trial is neither a folder nor an archive (.tar, .tar.gz))',
    ]);
    // The tests are others than Harbor's, so that `compare` does not take the tasks for the same.
    expect(manifest.tasks[0]?.fingerprint).not.toBe(imported.manifest.tasks[0]?.fingerprint);
    expect(manifest.notes.join('\n')).toContain('Whetstone’s clean room');
    for (const command of ['show', 'report'])
      expect((await project.whetstone([command, 'latest'])).exitCode).toBe(0);
  });

  test('are judged by other commands, as often as wanted, and again from the run of another rescore', async () => {
    const args = ['--validation', 'grep -q "/ 2" src/half.js', '--repeat', '2'];
    const rescored = await project.whetstone(['rescore', 'job', ...args]);
    expect(rescored.stdout).toContain('6 cases judged anew, each tree 2 times');
    expect(project.latest().rows[0]?.verifications).toEqual({ runs: 2, passed: 2, broken: 0 });
    await project.whetstone(['rescore', 'latest', '--validation', 'test -e src/old.js']);
    expect(
      project
        .latest()
        .rows.slice(0, 2)
        .map(({ outcome }) => outcome),
    ).toEqual(['failed', 'passed']);
  });
});

test('an archive that a trial left is a tree, and of several folders the user names the workspace', async () => {
  using project = makeJob();
  const collected = ['/data', '/app'].map((source) => ({
    ...{ source, destination: `artifacts${source}`, type: 'directory', status: 'ok' },
  }));
  const logs = { source: '/logs/artifacts', destination: 'artifacts/logs/artifacts', type: 'directory' };
  project.write({
    ...trialOf('half__1', {
      ...{ reward: 0, tree: untouched },
      files: { 'artifacts/data/a.txt': 'a', 'artifacts/manifest.json': JSON.stringify([...collected, logs]) },
    }),
    ...Object.fromEntries(
      Object.entries({ ...good, 'my.lock': '1' }).map(([path, text]) => [`packed/app/${path}`, text]),
    ),
  });
  mkdirSync(join(project.root, 'job/half__1/artifacts/logs/artifacts'), { recursive: true });
  const archive = join(project.root, 'job/half__1/artifacts/logs/artifacts/tree.tar.gz');
  execFileSync('tar', ['-czf', archive, '-C', join(project.root, 'packed/app'), '.']);
  await project.whetstone(['runs', 'import', 'job']);
  expect(project.latest().manifest.notes.join()).toContain(
    'several folders, so no tree was kept: /app, /data',
  );
  const none = await project.whetstone(['rescore', 'latest']);
  expect(none).toMatchObject({ exitCode: 2 });
  expect(none.stderr).toContain('has no trees to judge');
  expect(none.stderr).toContain('--tree /app');
  for (const [tree, outcome] of [
    ['/app/', 'failed'],
    ['/logs/artifacts/tree.tar.gz', 'passed'],
  ] as const) {
    await project.whetstone(['runs', 'import', 'job', '--tree', tree]);
    await project.whetstone(['rescore', 'latest']);
    expect(project.latest().rows.map((row) => row.outcome)).toEqual([outcome]);
  }
});
