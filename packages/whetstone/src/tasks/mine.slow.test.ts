import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIN, makeProject, type Project } from '../cli/__fixtures__/project.ts';
import type { Checked } from '../cli/tasks-check.ts';
import { makeHistory } from './__fixtures__/history.ts';
import { PREPARE_VITEST as PREPARE } from './__fixtures__/prepare-vitest.ts';
import { smallProject } from './__fixtures__/small-project.ts';
import type { Mined } from './mine.ts';

const server = createServer((_, response) => response.end('yes'));
let project: Project;
let repo: string;
let mined: Mined;
const isMissing = (program: string): boolean => spawnSync(program, ['--version']).error !== undefined;

const cache = () => ({ XDG_CACHE_HOME: join(project.root, 'cache') });

const mine = async (...more: string[]): Promise<Mined> => {
  const issues = more.includes('remove') ? [] : ['--issues', join(project.root, 'issues.json')];
  const args = [
    'tasks',
    'mine',
    '--repo',
    repo,
    '--json',
    '--timeout',
    '15',
    '--jobs',
    '2',
    ...issues,
    ...more,
  ];
  const { stdout, stderr, exitCode } = await project.whetstone(
    [...args, ...PREPARE.flatMap((one) => ['--prepare', one])],
    cache(),
  );
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout);
};

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project = makeProject();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const steps = smallProject({ url, counter: join(project.root, 'counter') });
  expect(steps).toHaveLength(40);
  repo = makeHistory(steps);
  const body = 'Half of a number is a third of it today, for every number but zero. It should be the half.';
  writeFileSync(
    join(project.root, 'issues.json'),
    JSON.stringify([{ number: 12, title: 'Half is wrong', body }]),
  );
  mined = await mine();
}, 240_000);
afterAll(() => {
  server.close();
  project[Symbol.dispose]();
  rmSync(repo, { recursive: true, force: true });
});

test('exactly the commits whose tests show their work are tasks', () => {
  const tasks = mined.tried.filter(({ status }) => status === 'task');
  const others = mined.tried.filter(({ status }) => status !== 'task');
  expect(tasks.map(({ subject, grade }) => `${subject}: ${grade}`)).toEqual([
    'Count right: tests',
    'Fix the wide value: commit',
    'Merge branch low: tests',
    'Fix trim: tests',
    'Fix upper: tests',
    'Halve numbers right (#12): issue',
  ]);
  expect(others.map(({ subject, reason }) => `${subject}: ${reason}`)).toEqual([
    'Break half and its test: its tests pass without its sources',
    'Test both packages: its tests belong to several packages with runners of their own',
    'Add a helper that tests cannot load before: its tests cannot be loaded without its sources',
    'Fix slow: its tests do not run with its sources',
    'Fix flaky: no reliable test fails without its sources',
    'Simplify upper: its tests pass without its sources',
  ]);
});

test('tests that cannot be relied on are excluded by name', () => {
  expect(mined.tried.flatMap(({ excluded = [] }) => excluded)).toEqual([
    { test: 'packages/count/count.test.js > second', reason: 'depends on the order of the tests' },
    { test: 'test/trim.test.js > trim 2', reason: 'flaky' },
    { test: 'test/trim.test.js > trim 3', reason: 'needs the network' },
    { test: 'test/trim.test.js > trim 4', reason: 'depends on the date' },
  ]);
  // It passes in every second run, and also fails in the first one with another order, another date and no network.
  expect(mined.tried.find(({ subject }) => subject === 'Fix flaky')?.evidence).toBe('flaky');
});

test('commits with the same manifests share one environment', async () => {
  const { stdout } = await project.whetstone(['environments', 'list', '--json'], cache());
  const keys = new Set(JSON.parse(stdout).map(({ key }: { key: string }) => key));
  expect(keys.size).toBeLessThan(4);
});

test('revert takes old commits back from HEAD; remove takes out code; both with one environment', async () => {
  const resultsOf = async (method: string, ...only: string[]) => {
    rmSync(join(project.root, 'counter-2'), { force: true }); // the flaky test passes first
    const { tried } = await mine(
      '--method',
      method,
      '--repeat',
      '2',
      '--timeout',
      '5',
      '--out',
      'tasks/more',
      ...only,
    );
    return tried.map(({ subject, reason, grade }) => `${subject}: ${reason ?? grade}`);
  };
  expect(await resultsOf('revert')).toEqual([
    'Break half and its test: its tests pass without its sources',
    'Test both packages: its tests belong to several packages with runners of their own',
    'Count right: its sources have changed since, and cannot be taken back',
    'Fix the wide value: commit',
    'Merge branch low: tests',
    'Add a helper that tests cannot load before: its tests cannot be loaded without its sources',
    'Fix slow: its tests do not run with its sources',
    'Fix flaky: no reliable test fails without its sources',
    'Simplify upper: its tests pass without its sources',
    'Fix trim: its sources have changed since, and cannot be taken back',
    'Fix upper: its sources have changed since, and cannot be taken back',
    'Halve numbers right (#12): its sources have changed since, and cannot be taken back',
  ]);
  expect(await resultsOf('remove', '--paths', 'src')).toEqual([
    'flaky of src/flaky.js: no reliable test fails without its sources',
    'half of src/half.js: its tests fail with its sources',
    'low of src/low.js: tests',
    'slow of src/slow.js: its tests do not run with its sources',
    'strip of src/strip.js: tests',
    'upper of src/upper.js: tests',
  ]);
  const keys = async () => {
    const { stdout } = await project.whetstone(['environments', 'list', '--json'], cache());
    return new Set(JSON.parse(stdout).map(({ key }: { key: string }) => key)).size;
  };
  expect(await keys()).toBeLessThan(5);
}, 240_000);

test('mining again tries only what is new', async () => {
  const again = await mine();
  expect(again.tried).toEqual([]);
  expect(again.known).toHaveLength(12);
});

test('in a run the patches of the commits pass and no work fails', async () => {
  const agent = (script: string) => ({
    kind: 'custom',
    command: ['sh', '-c', script, 'sh', '{task_id}'],
  });
  project.writeConfig({
    repo: { path: repo },
    environment: { prepare: PREPARE },
    agents: {
      gold: agent(`git apply ${project.root}/tasks/mined/$1/gold.patch`),
      nop: agent(`cd ${project.root}/tasks/mined/$1/tests && for file in $(find . -type f); do
        cmp -s $file $OLDPWD/$file && echo there || echo not there
      done`),
    },
  });
  project.write({ 'tasks.yaml': 'include: [tasks/mined]\n' });
  const { exitCode, stderr } = await project.whetstone(['run', '--jobs', '2'], cache());
  expect(exitCode, stderr).toBe(1);
  const { rows } = project.latest();
  expect(rows).toHaveLength(12);
  for (const { task_id, agent_name, outcome, evidence, validation_results } of rows) {
    expect([task_id, outcome, evidence]).toEqual([
      task_id,
      ...(agent_name === 'gold'
        ? ['passed', null]
        : ['failed', expect.stringContaining('tests did not pass')]),
    ]);
    expect(validation_results.at(-1)?.command).toMatch(/^(node --test|vitest run) /);
  }
}, 240_000);

test('the failing tests are in the tree where they are the statement, and only there', () => {
  const { directory, rows } = project.latest();
  const tests = (id: string) => readFileSync(join(directory, 'cases', id, 'stdout.log'), 'utf8').trim();
  const seen = rows.filter(({ agent_name }) => agent_name === 'nop');
  expect(seen.map(({ category, case_id }) => `${category}: ${tests(case_id)}`).sort()).toEqual([
    'commit: not there',
    'issue: not there',
    ...Array(4).fill('tests: there'),
  ]);
});

test('check finds a mined task fit for use, and not with an answer that does not solve it', async () => {
  const [one = ''] = mined.tried.flatMap(({ task = [] }) => task).filter((id) => id.startsWith('fix-upper'));
  const check = async () => {
    const args = ['tasks', 'check', '--json', '--task-id', one];
    const { stdout, exitCode } = await project.whetstone(args, cache());
    const [found]: Checked[] = JSON.parse(stdout).checks;
    const { nop, gold, problems, results } = found ?? {};
    return { exitCode, nop: nop?.passed, gold: gold?.passed, problems, results };
  };
  expect(await check()).toEqual({
    ...{ exitCode: 0, nop: 0, gold: 1, problems: [] },
    results: { passed: 1, cases: 2 }, // of the run above
  });
  writeFileSync(join(project.root, 'tasks/mined', one, 'gold.patch'), '');
  expect(await check()).toMatchObject({
    ...{ exitCode: 1, nop: 0, gold: 0 },
    problems: [expect.stringMatching(/^with its patch: 1 of 2 tests did not pass: .* \(failed\)/)],
  });
}, 240_000);

test.skipIf(isMissing('script'))(
  'review on a terminal keeps, edits and drops',
  { tags: 'script' },
  async () => {
    const folder = join(project.root, 'tasks/more');
    const editor = join(project.root, 'editor.sh');
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/^  These tests fail:/  Lower it./" "$1"\n', { mode: 0o755 });
    const start = `stty -echo; exec ${process.execPath} ${BIN} tasks review ${folder}`;
    const child = spawn('script', ['-qefc', start, '/dev/null'], {
      env: { ...project.environment, EDITOR: editor, TERM: 'xterm' },
    });
    let said = '';
    let asked = 1;
    // Three answers for the first task, one for the second, and the last ends it.
    const answers = ['s', 'e', 'k', 'd', 'q'];
    for await (const chunk of child.stdout) {
      said += chunk;
      if (said.split('[k/e/d/s/l/q]').length <= asked) continue;
      asked += 1;
      child.stdin.write(`${answers.shift()}\n`);
    }
    expect(said).toContain('+export default (s) => s.toLowerCase();');
    expect(said).toContain('1 kept, 1 dropped, 3 left for later');
    const names = readdirSync(folder).filter((name) => name.startsWith('re'));
    expect(names.map((name) => name.replace(/-[0-9a-f]{8}$/, ''))).toEqual([
      ...['remove-low', 'remove-upper', 'revert-fix-the-wide-value', 'revert-merge-branch-low'],
    ]);
    const text = (name: string) => readFileSync(join(folder, names[0] ?? '', name), 'utf8');
    expect(text('task.yaml')).toContain('Lower it.');
    expect(JSON.parse(text('provenance.json'))).toHaveProperty('kept');
  },
);
