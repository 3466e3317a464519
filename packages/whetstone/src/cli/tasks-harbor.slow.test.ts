import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

const HIDDEN = `import { test } from 'node:test';
import assert from 'node:assert';
import { half } from '../src/half.js';
test('half', () => assert.equal(half(4), 2));
`;
const BEFORE = 'export const half = (n) => n / 3;\n';
const PATCH = `--- a/src/half.js
+++ b/src/half.js
@@ -1 +1 @@
-export const half = (n) => n / 3;
+export const half = (n) => n / 2;
`;
const taskOf = (id: string, more: Record<string, unknown> = {}) => ({
  ...{ id, prompt: 'Halve it.', hidden_tests: 'hidden', gold_patch: 'gold.patch' },
  validation: {
    commands: ['test ! -e wrong'],
    tests: { runner: 'node-test', files: ['test/half.test.js'], must_pass: ['test/half.test.js > half'] },
  },
  ...more,
});

const hasNamespaces = spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0;

const project = makeProject({
  files: { 'src/half.js': BEFORE, 'package.json': '{"type":"module"}\n', 'AGENTS.md': 'Halve.\n' },
  config: { evaluation: {} },
  tasks: [
    taskOf('half', { setup: ['echo made > made.txt'] }),
    taskOf('guarded', { protected_paths: ['a'] }),
    taskOf('fails too', { validation: { commands: ['true'] } }),
  ],
});
project.write({ 'hidden/test/half.test.js': HIDDEN, 'gold.patch': PATCH });
afterAll(() => project[Symbol.dispose]());

const run = async (...args: string[]) => {
  const { stdout, stderr, exitCode } = await project.whetstone(['tasks', ...args, '--json']);
  return { exitCode, said: stdout === '' ? stderr : JSON.parse(stdout) };
};
const checked = async (folder: string) => {
  const { said } = await run('check', folder, '--repo', `${folder}/repo`);
  const checks: { task: string; nop: object; gold: object; problems: string[] }[] = said.checks;
  return checks.map(({ task, nop, gold, problems }) => ({ task, nop, gold, problems }));
};
const never = { passed: 0, runs: 1 };
const always = { passed: 1, runs: 1 };

const COLLECTED = { source: '/app', destination: 'artifacts/app', type: 'directory', status: 'ok' };
const HARBOR_CONFIG = {
  ...{ repo: { path: 'tasks/harbor/repo' }, tasks: 'harbor-tasks.yaml', output_dir: 'runs' },
  ...{ agents: { nobody: { kind: 'custom', command: ['true'] } }, variants: { baseline: {} } },
};

/** The Harbor task of someone else, with a solution and a verifier as scripts. */
const harborTask = (name: string, files: Record<string, string>) =>
  Object.fromEntries(
    Object.entries({
      'task.toml': 'version = "1.0"\n[metadata]\ndifficulty = "easy"\n[agent]\ntimeout_sec = 60.0\n',
      'instruction.md': 'Write hello to /app/out/hello.txt. You are in /app.\n',
      'environment/Dockerfile':
        'FROM debian\nWORKDIR /app\nENV WORD=hello\nCOPY data /app/in\nRUN mkdir -p out && touch out/.keep\n',
      'environment/data/AGENTS.md': 'Be quick.\n',
      'solution/solve.sh': '#!/bin/bash\ncat /app/in/AGENTS.md && echo "$WORD" > /app/out/hello.txt\n',
      'tests/test.sh': `#!/bin/bash
if [ "$(cat out/hello.txt)" = hello ] && [ "$PWD" = /app ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
`,
      ...files,
    }).map(([path, text]) => [`harbor/${name}/${path}`, text]),
  );

test.skipIf(!hasNamespaces)(
  'a task is the same as a Harbor task and back: its scripts run where a container has them',
  { tags: 'namespaces' },
  async () => {
    const exported = await run('export', '--out', 'exported');
    expect(exported).toMatchObject({
      exitCode: 1,
      said: {
        tasks: [
          { task: 'half', notes: [] },
          { task: 'guarded', refused: 'it restores files before it is verified (protected_paths)' },
          { task: 'fails too', refused: 'without work all its commands exit 0' },
        ],
      },
    });
    const read = (path: string) => readFileSync(join(project.root, 'exported/half', path), 'utf8');
    expect(read('environment/Dockerfile')).toBe(
      'FROM node:24-bookworm\nWORKDIR /workspace\nCOPY tree/ ./\nRUN ["/bin/sh","-c","echo made > made.txt"]\n',
    );
    expect(read('environment/tree/AGENTS.md')).toBe('Halve.\n');
    expect(existsSync(join(project.root, 'exported/half/environment/tree/test'))).toBe(false);

    expect(await run('import', 'exported', '--out', 'again')).toMatchObject({ exitCode: 0 });
    expect(await checked('again')).toEqual([{ task: 'half', nop: never, gold: always, problems: [] }]);
    expect((await run('export', '--out', 'exported', '--task-id', 'half')).said.tasks).toEqual([
      { task: 'half', refused: 'its folder exists' },
    ]);
  },
);

test.skipIf(!hasNamespaces)(
  'Harbor tasks of others are imported, or refused with the reason',
  { tags: 'namespaces' },
  async () => {
    const reward = (text: string) => `#!/bin/sh\ntest -e /app/out/hello.txt && ${text}\n`;
    project.write({
      ...harborTask('hello', {}),
      ...harborTask('json', {
        'tests/test.sh': reward(`echo '{"reward": 1.0}' > /logs/verifier/reward.json`),
      }),
      ...harborTask('partial', { 'tests/test.sh': reward('echo 0.5 > /logs/verifier/reward.txt') }),
      ...harborTask('two', {
        'tests/test.sh': reward('cd /logs/verifier && echo 1 | tee reward.txt > reward.json'),
      }),
      ...harborTask('compose', { 'environment/docker-compose.yaml': 'services: {}\n' }),
      ...harborTask('system', {
        'environment/Dockerfile': 'FROM debian\nWORKDIR /app\nRUN apt-get install jq\n',
      }),
      ...harborTask('unsolved', { 'solution/solve.sh': '#!/bin/sh\necho no >&2; exit 3\n' }),
      ...harborTask('idle', { 'solution/solve.sh': '#!/bin/sh\necho a > /tmp/a\n' }),
      ...harborTask('odd', { 'task.toml': '[agent\n' }),
    });
    const { exitCode, said } = await run('import', 'harbor');
    expect(exitCode).toBe(1);
    const refused = said.tasks.filter((one: object) => 'refused' in one);
    expect(refused).toEqual([
      { task: 'compose', refused: 'its environment has several containers (docker-compose.yaml)' },
      { task: 'idle', refused: 'its solution changes nothing below /app' },
      { task: 'odd', refused: expect.stringContaining('Invalid TOML document') },
      { task: 'system', refused: 'its Dockerfile changes the system: RUN apt-get install jq' },
      { task: 'unsolved', refused: 'its solution/solve.sh exits 3 (no)' },
    ]);
    expect(said.tasks.find(({ task }: { task: string }) => task === 'hello').notes).toEqual([
      'its instruction names /app; these paths are now relative',
      'agents do not get WORD, only its commands do',
    ]);
    expect(readFileSync(join(project.root, 'tasks/harbor/hello/task.yaml'), 'utf8')).toContain(
      'prompt: Write hello to out/hello.txt. You are in ./.\n',
    );
    expect(await checked('tasks/harbor')).toEqual([
      { task: 'hello', nop: never, gold: always, problems: [] },
      { task: 'json', nop: never, gold: always, problems: [] },
      { task: 'partial', nop: never, gold: never, problems: [expect.stringContaining('reward: 0.5')] },
      { task: 'two', nop: never, gold: never, problems: [expect.stringContaining('two rewards')] },
    ]);

    // The trees that a job of Harbor collected, judged by the verifiers that came with its tasks.
    project.write({
      'harbor.yaml': JSON.stringify(HARBOR_CONFIG),
      'harbor-tasks.yaml': 'include: [tasks/harbor]\n',
    });
    const trial = (name: string, reward: number, tree: Record<string, string>) => ({
      [`job/${name}/result.json`]: JSON.stringify({
        task_name: 'someone/hello',
        verifier_result: { rewards: { reward } },
      }),
      [`job/${name}/artifacts/manifest.json`]: JSON.stringify([COLLECTED]),
      ...Object.fromEntries(
        Object.entries(tree).map(([path, text]) => [`job/${name}/artifacts/app/${path}`, text]),
      ),
    });
    const start = { 'in/AGENTS.md': 'Be quick.\n', 'out/.keep': '' };
    project.write({
      ...trial('hello__a', 0, { ...start, 'out/hello.txt': 'hello\n' }),
      ...trial('hello__b', 1, { ...start, 'out/hello.txt': 'goodbye\n' }),
    });
    await project.whetstone(['runs', 'import', 'job']);
    const rescored = await project.whetstone(['rescore', 'latest', '-c', 'harbor.yaml']);
    expect(rescored.stdout).toContain('2 cases judged anew, 2 with another outcome');
    expect(rescored.stdout).toMatch(
      /failed → passed {2}someone-hello.*\n {2}passed → failed {2}someone-hello.*reward: 0/,
    );
  },
);
