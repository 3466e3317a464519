import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createMask, createProcessSandboxProvider } from '@whetstone/sandbox';
import { expect, test } from 'vitest';
import type { TaskTests } from '../../config/config.ts';
import { makeTempDir } from '../../workspace/__fixtures__/test-repo.ts';
import { expectTests } from './expected-tests.ts';
import { cargoTest, goTest } from './go-and-cargo.ts';
import { mocha } from './mocha.ts';
import { nodeTest } from './node-test.ts';
import { pytest, pythonUnittest } from './python.ts';
import { problemOf, runTests } from './run-tests.ts';
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
    { type: 'end' },
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
    ['', 'end', 'passed'],
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
  const end = '\ntest result: FAILED. 1 passed; 1 failed; 1 ignored';
  const tests = { 'a::b': 'passed', c: 'failed', d: 'skipped' };
  expect(read(cargoTest, cargo + end)).toEqual({ tests, problems: [] });
  expect(read(cargoTest, cargo).problems).toEqual(['the runner ended before its tests had']);
  const shuffled = cargo.replace('running 2 tests', '$& (shuffle seed: 21)');
  expect(read(cargoTest, shuffled + end)).toEqual({ tests, problems: [] });
  expect(read(cargoTest, shuffled).problems).toEqual(['the runner ended before its tests had']);
  const relative = (path: string) => path;
  const isUsual = (report: string) => cargoTest.read({ report, relative, order: true }).hasUsualOrder;
  expect([isUsual(shuffled + end), isUsual(cargo + end)]).toEqual([undefined, true]);
});

test('without a report nothing has passed', () => {
  for (const runner of [nodeTest, jest, mocha, pytest, goTest, cargoTest]) {
    const { tests, problems } = runner.read({ report: undefined, relative: (path) => path });
    expect(problems).toEqual(['the runner wrote no report']);
    expect(problemOf({ mustPass: ['a'] }, { tests, problems })).toBe(
      '1 of 1 tests did not pass: a (not run); the runner wrote no report',
    );
  }
});

test('without a report the end of what the runner printed is told, masked and bounded', async () => {
  const folder = makeTempDir();
  const tree = join(folder, 'repo');
  mkdirSync(tree);
  const printing =
    '#!/bin/sh\nseq 9 >&2; printf "\\033[31msecret-7 is missing\\033[0m %0900d\\n\\n    at async main (file:///cli.js:61:5)\\n\\nNode.js v20.20.2\\n" 7 >&2\n';
  for (const name of ['go', 'cargo', 'mocha', 'jest', 'vitest'])
    writeFileSync(join(tree, name), printing, { mode: 0o755 });
  const provider = await createProcessSandboxProvider({ scratch: folder });
  const sandbox = await provider.start({ workdir: tree, env: { PATH: `${tree}:/usr/bin:/bin` } });
  for (const runner of ['go-test', 'cargo-test', 'mocha', 'jest', 'vitest'] as const) {
    const { report } = await runTests(
      sandbox,
      { runner, files: ['a'], options: [], mustPass: [] },
      {
        ...{ tree, directory: join(folder, 'logs'), mask: createMask(['secret-7']) },
        signal: AbortSignal.timeout(60_000),
      },
    );
    const [problem, printed = ''] = report.problems;
    expect(problem).toBe('the runner wrote no report');
    expect(printed).toMatch(/^the runner's last lines: 6 \| 7 \| 8 \| 9 \| \S+ is missing 0{100,}$/);
    expect(printed).not.toContain('secret-7');
    expect(printed.length).toBeLessThan(300);
  }
  await sandbox.stop();
  rmSync(folder, { recursive: true });
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

test('unittest: what Python loads first is not taken from the tree, and every result is reported', () => {
  const folder = makeTempDir();
  const { args, files = {} } = pythonUnittest.invoke(
    { files: ['tests/test_a.py', 'tests/test_b.py'], options: [] },
    folder,
    {},
  );
  const tree = {
    ...{ 'json.py': 'raise SystemExit(0)', 'tests/test_b.py': 'import nowhere' },
    'tests/test_a.py': `from unittest import TestCase, expectedFailure, skip
class A(TestCase):
    def test_good(self): pass
    def test_bad(self): self.assertEqual(1, 2)
    def test_parts(self):
        for part in [1, 2]:
            with self.subTest(part): self.assertEqual(part, 1)
    @skip('later')
    def test_later(self): pass
    @expectedFailure
    def test_known(self): self.fail()
`,
  };
  for (const [name, text] of Object.entries({ ...files, ...tree })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  spawnSync('python3', ['-I', '-B', ...args], { cwd: folder });
  expect(read(pythonUnittest, readFileSync(join(folder, 'report'), 'utf8'))).toEqual({
    tests: {
      'tests.test_a.A.test_bad': 'failed',
      'tests.test_a.A.test_good': 'passed',
      'tests.test_a.A.test_known': 'skipped',
      'tests.test_a.A.test_later': 'skipped',
      'tests.test_a.A.test_parts': 'failed',
    },
    problems: ['test_b could not be collected'],
  });
  rmSync(folder, { recursive: true });
});

test('missing, skipped, surplus and repeated tests, and a report without an end, are not a pass', () => {
  const all = lines(['a', 'call', 'passed'], ['b', 'call', 'failed'], ['', 'end', 'passed']);
  const problem = (report: string, tests: { mustPass: string[]; others?: string[] }) =>
    problemOf(tests, pytest.read({ report, relative: (path) => path }));
  expect(problem(all, { mustPass: ['a'], others: ['b'] })).toBeUndefined();
  expect(problem(all, { mustPass: ['a'] })).toBeUndefined();
  expect(problem(all, { mustPass: ['a', 'c'] })).toBe('1 of 2 tests did not pass: c (not run)');
  expect(problem(all, { mustPass: ['a'], others: [] })).toBe(
    '1 of 2 tests in the report are not expected: b is not one of the tests of the task',
  );
  expect(problem(`["a","call","passed"]\n${all}`, { mustPass: ['a'], others: ['b'] })).toBe(
    '1 of 2 tests in the report are not expected: a ran more often than expected',
  );
  expect(problem('["a","call","passed"]', { mustPass: ['a'], others: [] })).toBe(
    'the runner ended before its tests had',
  );
});

test('the tests of a task are those of its solved tree, or all that its own tree collects', () => {
  const report = pytest.read({
    report: lines(
      ['a', 'call', 'passed'],
      ['b', 'call', 'failed'],
      ['c', 'call', 'skipped'],
      ['', 'end', 'passed'],
    ),
    relative: (path) => path,
  });
  const task = 'sum';
  expect(expectTests(report, { task, isSolved: true })).toEqual({ mustPass: ['a'], others: ['b', 'c'] });
  expect(expectTests(report, { task, isSolved: false })).toEqual({ mustPass: ['a', 'b'], others: ['c'] });
  const broken = { ...report, problems: ['t.py could not be collected'] };
  expect(() => expectTests(broken, { task, isSolved: false })).toThrow(
    'The tests of task sum cannot be listed without any work: t.py could not be collected.',
  );
});
