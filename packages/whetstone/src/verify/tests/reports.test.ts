import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMask, createProcessSandboxProvider } from '@whetstone/sandbox';
import { expect, test } from 'vitest';
import type { TaskTests } from '../../config/config.ts';
import { makeTempDir } from '../../workspace/__fixtures__/test-repo.ts';
import { cargoTest, goTest } from './go-and-cargo.ts';
import { mocha } from './mocha.ts';
import { nodeTest } from './node-test.ts';
import { pytest } from './pytest.ts';
import { missingPasses, runTests } from './run-tests.ts';
import type { TestRunner } from './test-runner.ts';
import { jest } from './vitest-and-jest.ts';

const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join('\n');
const read = (runner: TestRunner, report: string | undefined) => {
  const { tests, problems } = runner.read({
    report,
    relative: (path) => path.replace('/tree/', ''),
  });
  return { tests: Object.fromEntries(tests), problems };
};
const file = '/tree/test/a.test.js';

test('node:test: suites are parts of the name, and a file that broke off is a problem', () => {
  const report = lines(
    { type: 'test:start', name: 'suite', nesting: 0, file },
    { type: 'test:start', name: 'one', nesting: 1, file },
    { type: 'test:pass', name: 'one', nesting: 1, file, kind: 'test' },
    { type: 'test:fail', name: 'suite', nesting: 0, file, kind: 'suite' },
    { type: 'test:pass', name: 'later', nesting: 0, file, todo: true },
    { type: 'test:fail', name: file, nesting: 0, file },
  );
  expect(read(nodeTest, report)).toEqual({
    tests: { 'test/a.test.js > suite > one': 'passed', 'test/a.test.js > later': 'skipped' },
    problems: ['test/a.test.js could not be run to its end'],
  });
});

test('Jest and Vitest: a file that cannot be loaded is a problem, and of two tests with one name the worse counts', () => {
  const assertion = (title: string, status: string) => ({ ancestorTitles: ['a'], title, status });
  const report = JSON.stringify({
    testResults: [
      {
        name: file,
        status: 'failed',
        assertionResults: [assertion('b', 'failed'), assertion('b', 'passed'), assertion('c', 'pending')],
      },
      { name: '/tree/test/b.test.js', status: 'failed', message: 'No module\n  at', assertionResults: [] },
    ],
  });
  expect(read(jest, report)).toEqual({
    tests: { 'test/a.test.js > a > b': 'failed', 'test/a.test.js > a > c': 'skipped' },
    problems: ['test/b.test.js could not be loaded: No module'],
  });
});

test('Mocha and pytest', () => {
  const report = { passes: [{ fullTitle: 'a b', file }], failures: [], pending: [{ fullTitle: 'c', file }] };
  expect(read(mocha, JSON.stringify(report)).tests).toEqual({
    'test/a.test.js > a b': 'passed',
    'test/a.test.js > c': 'skipped',
  });
  const phases = lines(
    ['t.py::a', 'setup', 'passed'],
    ['t.py::a', 'call', 'passed'],
    ['t.py::a', 'teardown', 'failed'],
    ['t.py::b', 'setup', 'skipped'],
    ['u.py', 'collect', 'failed'],
  );
  expect(read(pytest, phases)).toEqual({
    tests: { 't.py::a': 'failed', 't.py::b': 'skipped' },
    problems: ['u.py could not be collected'],
  });
});

test('go test and cargo test', () => {
  const go = lines(
    { Action: 'run', Package: 'm/a', Test: 'TestA' },
    { Action: 'pass', Package: 'm/a', Test: 'TestA' },
    { Action: 'fail', Package: 'm/a' },
    { Action: 'fail', Package: 'm/b', FailedBuild: 'm/b [m/b.test]' },
  );
  expect(read(goTest, `go: downloading\n{ no event\n${go}`)).toEqual({
    tests: { 'm/a > TestA': 'passed' },
    problems: ['m/b could not be built'],
  });
  const cargo = 'running 2 tests\ntest a::b ... ok\ntest c - should panic ... FAILED\ntest d ... ignored\n';
  expect(read(cargoTest, cargo).tests).toEqual({ 'a::b': 'passed', c: 'failed', d: 'skipped' });
});

test('without a report nothing has passed', () => {
  for (const runner of [nodeTest, jest, mocha, pytest, goTest, cargoTest]) {
    const { tests, problems } = runner.read({ report: undefined, relative: (path) => path });
    expect(problems).toEqual(['the runner wrote no report']);
    expect(missingPasses(['a'], { tests, problems })).toBe(
      '1 of 1 tests did not pass: a (not run); the runner wrote no report',
    );
  }
});

test('a report on the standard output is read whole, however long it is', async () => {
  const folder = makeTempDir();
  const tree = join(folder, 'repo');
  mkdirSync(tree);
  const event = '{"Action":"pass","Package":"m","Test":"Test%.0f","Elapsed":0.001}';
  writeFileSync(join(tree, 'go'), `#!/bin/sh\nseq -f '${event}' 40000\n`, { mode: 0o755 });
  const provider = await createProcessSandboxProvider({ scratch: folder });
  const sandbox = await provider.start({ workdir: tree, env: { PATH: `${tree}:/usr/bin:/bin` } });
  const tests: TaskTests = { runner: 'go-test', files: ['a_test.go'], options: [], mustPass: [] };
  const { result, report } = await runTests(sandbox, tests, {
    ...{ tree, directory: join(folder, 'logs'), mask: createMask([]), signal: AbortSignal.timeout(60_000) },
  });
  expect(result.stdoutBytes).toBeGreaterThan(2 * 1024 * 1024);
  expect(report.tests.size).toBe(40_000);
  await sandbox.stop();
  rmSync(folder, { recursive: true });
});

test('a worker of pytest-xdist leaves the report of the main process as it is', () => {
  const folder = makeTempDir();
  const { env, files = {} } = pytest.invoke({ files: [], options: [] }, folder, {});
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const report = join(folder, 'report');
  writeFileSync(report, 'main');
  const worker = { ...process.env, ...env, PYTEST_XDIST_WORKER: 'gw0' };
  execFileSync('python3', ['-c', 'import whetstone_report'], { env: worker });
  expect(readFileSync(report, 'utf8')).toBe('main');
  rmSync(folder, { recursive: true });
});
