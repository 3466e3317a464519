import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeHistory } from '../tasks/__fixtures__/history.ts';
import { START, smallProject, testOf } from '../tasks/__fixtures__/small-project.ts';
import { runGit } from '../workspace/__fixtures__/test-repo.ts';
import { runCommandLine } from './__fixtures__/command-line.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
let repo: string;
beforeAll(() => {
  project = makeProject();
  runGit(project.root, ['init', '-q', 'empty']);
  repo = makeHistory(smallProject({ url: 'http://127.0.0.1:1/', counter: '/nowhere' }));
});
afterAll(() => {
  project[Symbol.dispose]();
  rmSync(repo, { recursive: true });
});

test('mine --dry-run says which commits are candidates, and why the others are not', async () => {
  const { stdout, exitCode } = await project.whetstone(['tasks', 'mine', '--repo', repo, '--dry-run']);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('40 commits, 12 candidates (30 %)');
  expect(stdout).toContain('Left out:\n  12  it changes neither sources nor tests');
});

test.each([
  [['mine', '--since', 'last summer'], '--since "last summer" is not a date'],
  [['mine', '--repeat', '1'], '--repeat must be 2 or more'],
  [['mine', '--issues', 'tasks.yaml'], 'The issues cannot be read'],
  [['mine', '--repo', '.'], 'is not a Git repository'],
  [['mine', '--repo', 'empty'], 'The repository has no commit yet'],
  [['mine', '--sessions', 'nowhere'], 'nowhere is not a folder'],
  [['review', 'notes'], 'The folder has no task'],
  [['check', 'notes'], 'The folder has no task'],
  [['check', '--task-id', 'none'], 'Unknown task "none"'],
  [['review', 'tasks.yaml'], 'This is a file, not a folder'],
  [['check', 'tasks.yaml'], 'This is a file, not a folder'],
  [['import', 'tasks.yaml'], 'This is a file, not a folder'],
  [['check', 'nowhere'], 'This folder does not exist'],
  [['mine', '--out', 'tasks.yaml'], 'The folder cannot be written (EEXIST)'],
  [['export', '--out', 'tasks.yaml'], 'The folder cannot be written (EEXIST)'],
])('tasks %j is refused: %s', async (args, message) => {
  const named = args.includes('--repo') || args[0] !== 'mine' ? [] : ['--repo', repo];
  const { stderr, exitCode } = await project.whetstone(['tasks', ...args, ...named]);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});

test.each([
  [['--junit', 'tasks.yaml/audit.xml'], 'The file cannot be written'],
  [['--junit', 'notes'], 'The file cannot be written (it is a folder)'],
  [['--out', 'tasks.yaml/below'], 'The folder cannot be written (ENOTDIR)'],
])('audit %j is refused before it grades anything: %s', async (args, message) => {
  const { stdout, stderr, exitCode } = await project.whetstone(['audit', ...args]);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(stderr).toContain(message);
  expect(stderr).toContain(`Give ${args[0]} a f`);
});

test('a set-up that fails or hangs says nothing about the commit, which is tried again', async () => {
  const history = makeHistory([
    START,
    {
      message: 'Half',
      files: { 'src/half.js': 'export default 1;\n', 'test/half.test.js': testOf('half', '') },
    },
  ]);
  const mine = async (...options: string[]) => {
    const args = ['tasks', 'mine', '--repo', history, '--json', ...options];
    const { tried } = JSON.parse((await project.whetstone(args)).stdout);
    return tried;
  };
  const hangs = ['--setup', 'sleep 60', '--setup-timeout', '0.2'];
  const broken = { status: 'broken', reason: 'its setup fails' };
  expect(await mine('--setup', 'exit 3')).toEqual([
    expect.objectContaining({ ...broken, evidence: expect.stringContaining('`exit 3` exited 3') }),
  ]);
  const failing = ['tasks', 'mine', '--repo', history, '--setup', 'exit 3'];
  expect(await project.whetstone(failing)).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('None could be tried. --prepare and --setup name other commands.'),
  });
  expect(await mine(...hangs)).toEqual([
    expect.objectContaining({ ...broken, evidence: expect.stringContaining('was stopped') }),
  ]);
  expect(await mine(...hangs)).toHaveLength(1);
  expect(await mine('--prepare', 'sleep 60', '--setup-timeout', '0.2')).toEqual([
    expect.objectContaining({
      ...broken,
      evidence: expect.stringContaining('prepare: `sleep 60` was stopped'),
    }),
  ]);
  const installing = ['tasks', 'mine', '--repo', history, '--prepare', 'echo nowhere >&2; exit 3'];
  const { stdout, stderr } = await project.whetstone(installing);
  const [, log = ''] = /\(nowhere\) (\S+) ends with: nowhere\)/.exec(stderr) ?? [];
  expect(stdout).toContain('What an installation printed is in tasks/mined/.prepare-logs.');
  expect(readFileSync(join(project.root, 'tasks/mined', log), 'utf8')).toBe('nowhere\n');
  const args = ['tasks', 'mine', '--repo', repo, '--out', 'tasks/none', '--setup', 'exit 127'];
  expect((await project.whetstone(args)).stdout).toContain('because the first 3 could not be tried.');
  rmSync(history, { recursive: true });
});

test('a repository without a lock file and without tests: what is missing is said, and nothing runs', async () => {
  const history = makeHistory([
    { message: 'Start', files: { 'src/a.js': 'export default 1;\n' } },
    { message: 'Change', files: { 'src/a.js': 'export default 2;\n' } },
  ]);
  const { stdout, stderr, exitCode } = await project.whetstone(['tasks', 'mine', '--repo', history]);
  expect([exitCode, stderr]).toEqual([0, 'Prepare: nothing (no lock file was found)\n']);
  expect(stdout).toContain('2 commits, 0 candidates (0 %)');
  expect(stdout).toContain('1  it changes sources but no test');
  const nowhere = ['tasks', 'mine', '--repo', history, '--dry-run', '--paths', 'nowhere'];
  expect((await project.whetstone(nowhere)).stdout).toBe(
    '0 commits, 0 candidates\nNo commit changes nowhere.\n',
  );
  const removed = await project.whetstone(['tasks', 'mine', '--repo', history, '--method', 'remove']);
  expect(removed.stdout).toContain('1  no function was found in it');
  rmSync(history, { recursive: true });
});

test('without a configuration, check takes the mined tasks and prepares what the manifest says', async () => {
  const history = makeHistory([{ message: 'Start', files: { 'src/a.js': 'export default 1;\n' } }]);
  const folder = join(history, 'tasks/mined/own');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'task.yaml'),
    'id: own\nprompt: x\nvalidation: { commands: ["test -e done"] }\n',
  );
  const check = () =>
    runCommandLine({
      args: ['tasks', 'check'],
      cwd: history,
      env: { PATH: process.env.PATH, HOME: history },
    });
  const { stdout, stderr, exitCode } = await check();
  expect([exitCode, stderr.split('\n')]).toEqual([
    0,
    ['Prepare: nothing (no lock file was found)', expect.stringMatching(/^Sandbox /), '1/1 own', ''],
  ]);
  expect(stdout).toContain('1 task, all fit for use');
  writeFileSync(join(history, 'package.json'), '{ "dependencies": { "a": "file:nowhere" } }');
  expect((await check()).stderr).toMatch(
    /^Prepare: npm install .*\(no lock file was found, so versions are of today\)$/m,
  );
  rmSync(history, { recursive: true });
});

test('a task counts when its last run has judged it, and is in its folder only then', async () => {
  const runner = `#!/bin/sh
for each; do case $each in --outputFile=*) report=\${each#*=};; esac; done
grep -q 2 src/half.js && status=passed || status=failed
test="{\\"ancestorTitles\\":[],\\"title\\":\\"half\\",\\"status\\":\\"$status\\"}"
echo "{\\"testResults\\":[{\\"name\\":\\"$PWD/test/half.test.js\\",\\"assertionResults\\":[$test]}]}" > "$report"
`;
  const value = (text: string) => ({ 'src/half.js': text, 'test/half.test.js': text });
  const history = makeHistory([
    {
      message: 'Start',
      files: { 'package.json': '{"scripts":{"test":"jest"}}', 'src/half.js': '1', jest: runner },
    },
    { message: 'Half', files: value('2') },
    { message: 'Third', files: value('3') },
    { message: 'Half again', files: value('2') },
  ]);
  const [log, out] = [join(project.root, 'runs'), join(project.root, 'judged')];
  project.write({ 'judged/.mining/left/task.yaml': 'id: left\n', runs: '' });
  const bin = 'mkdir -p node_modules/.bin; cp jest node_modules/.bin; chmod +x node_modules/.bin/jest';
  // Three runs validate a draft, and two judge its task. The first of these two cannot be set up, once.
  const setup = `ls ${out} | wc -l >> ${log}; test $(wc -l < ${log}) -ne 4 || exit 1; ${bin}`;
  const args = ['--repo', history, '--out', out, '--repeat', '2', '--json', '--setup', setup];
  const { tried } = JSON.parse((await project.whetstone(['tasks', 'mine', ...args])).stdout);
  expect(tried).toMatchObject([
    { subject: 'Half again', status: 'broken', reason: 'its task could not be judged' },
    { subject: 'Third', status: 'refused' },
    { subject: 'Half', status: 'task' },
  ]);
  // Only the journal was in the folder while they ran.
  const seen = readFileSync(log, 'utf8').trim().split(/\s+/);
  expect(seen).toEqual([...Array(4).fill('0'), ...Array(seen.length - 4).fill('1')]);
  expect(readdirSync(out).sort()).toEqual([tried[2].task, 'mined.jsonl']);
  rmSync(history, { recursive: true });
});

test('mining that was killed goes on with what it had not tried', async () => {
  const value = (text: string) => ({ 'src/half.js': text, 'test/half.test.js': text });
  const history = makeHistory([
    { message: 'Start', files: { 'package.json': '{"scripts":{"test":"jest"}}', 'src/half.js': '1' } },
    { message: 'Half', files: value('2') },
    { message: 'Third', files: value('3') },
  ]);
  const hangs = join(project.root, 'hangs');
  project.write({ hangs: '' });
  // The tests of the older commit do not end while the file is there. No test is reported.
  const jest = `#!/bin/sh\ngrep -q 3 test/half.test.js || while test -e ${hangs}; do sleep 0.1; done\n`;
  const setup = `mkdir -p node_modules/.bin; printf '%s' '${jest}' > node_modules/.bin/jest; chmod +x node_modules/.bin/jest`;
  const args = ['tasks', 'mine', '--repo', history, '--out', 'killed', '--json', '--setup', setup];
  const started = project.start(args.filter((one) => one !== '--json'));
  await started.said(/^1\/2 Third/m);
  process.kill(started.pid, 'SIGKILL');
  await started.finished;
  rmSync(hangs);
  const again = JSON.parse((await project.whetstone(args)).stdout);
  expect(again.known).toMatchObject([{ subject: 'Third' }]);
  expect(again.tried).toMatchObject([{ subject: 'Half', status: 'refused' }]);
  rmSync(history, { recursive: true });
});

test('a task file includes folders of tasks; what is wrong in one is shown with its file', async () => {
  const written = (id: string, more: string) => `id: ${id}\nprompt: Do it.\n${more}`;
  project.write({
    'tasks.yaml': 'include: [own]\n',
    'own/a/task.yaml': written('a', 'gold_patch: gold.patch\nvalidation: { commands: ["test -e done"] }\n'),
    'own/a/gold.patch': '--- /dev/null\n+++ b/done\n@@ -0,0 +1 @@\n+This is a part of the answer: é.\n',
    'own/b/task.yaml': written('b', 'validation: { commands: ["true"] }\n'),
    'own/c/task.yaml': written('c', 'gold_patch: gold.patch\nvalidation: { commands: ["test -e done"] }\n'),
    'own/c/gold.patch': '--- a/none\n+++ b/none\n@@ -1 +1 @@\n-\u001b[2Ja\n+b\n',
    'own/d/task.yaml': written('d', 'repo_ref: nowhere\nvalidation: { commands: ["test -e done"] }\n'),
  });
  const { stdout, exitCode } = await project.whetstone(['tasks', 'check', '--json']);
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout).checks).toEqual([
    expect.objectContaining({
      task: 'a',
      nop: { passed: 0, runs: 1 },
      gold: { passed: 1, runs: 1 },
      problems: [],
    }),
    expect.objectContaining({
      ...{ task: 'b', gold: null, problems: ['passes without any work in 1 of 1 runs'] },
      warnings: ['no gold_patch, so nothing shows that it can be solved'],
    }),
    expect.objectContaining({
      ...{ task: 'c', nop: { passed: 0, runs: 1 }, gold: { passed: 0, runs: 0 } },
      problems: [expect.stringContaining('git apply failed')],
    }),
    expect.objectContaining({
      ...{ task: 'd', nop: { passed: 0, runs: 0 }, gold: null, seconds: null },
      problems: ['No commit is named "nowhere".'],
    }),
  ]);
  const unprepared = await project.whetstone([
    ...['tasks', 'check', 'own/b', '--repo', repo, '--prepare', 'exit 3'],
  ]);
  expect(unprepared.exitCode).toBe(1);
  expect(unprepared.stdout).toMatch(/UNFIT {2}– +– +– +– +– +– {2}b\n/);
  expect(unprepared.stdout).not.toContain('nothing verifies the work');
  const review = await project.whetstone(['tasks', 'review', 'own']);
  expect(review.stdout).toContain('── 1 of 4: a\nAnswer: 1 file, +1 −0\n\n  Do it.\n');

  writeFileSync(
    join(project.root, 'own/b/task.yaml'),
    written(
      'a',
      'overlays: [{ source: ., target: AGENTS.md }]\nvalidation: { tests: { runner: vitest, files: [a], must_pass: task.yaml } }\n',
    ),
  );
  const { stderr } = await project.whetstone(['validate-config']);
  expect(stderr).toContain('own/b/task.yaml:1');
  expect(stderr).toContain('duplicate task id');
  expect(stderr).toContain('AGENTS.md is an instruction file, which only a variant may change');
  expect(stderr).toContain('is not a JSON list of at least one test id');
});
