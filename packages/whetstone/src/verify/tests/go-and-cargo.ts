import { dirname } from 'node:path';
import {
  collectTests,
  ENDED_EARLY,
  NO_REPORT,
  type TestRunner,
  type TestStatus,
  testId,
} from './test-runner.ts';

/** `go test -json`: ids are the package and the name of the test. Files are run by their packages. */
export const goTest: TestRunner = {
  varies: { order: true, date: false },
  invoke: ({ files, options }, _folder, { order }) => ({
    script: 'exec go test -json -count=1 "$@"',
    args: [
      ...(order ? ['-shuffle=1'] : []),
      ...options,
      ...new Set(files.map((file) => `./${dirname(file)}`)),
    ],
    env: {},
    reportsOnStdout: true,
  }),
  read({ report = '' }) {
    const { tests, counts, add } = collectTests();
    const problems: string[] = [];
    for (const line of report.split('\n')) {
      const { Action, Package, Test, FailedBuild } = eventOf(line);
      const status = GO_STATUS[Action ?? ''];
      if (status === undefined) continue;
      if (Test !== undefined) add(testId(Package ?? '', Test), status);
      else if (FailedBuild !== undefined) problems.push(`${Package} could not be built`);
    }
    return tests.size === 0 && problems.length === 0 ? NO_REPORT : { tests, counts, problems };
  },
};

const GO_STATUS: Record<string, TestStatus | undefined> = { pass: 'passed', fail: 'failed', skip: 'skipped' };

/** A program that the tests start may print to the same output. */
function eventOf(line: string): Record<string, string | undefined> {
  try {
    return line.startsWith('{') ? JSON.parse(line) : {};
  } catch {
    return {};
  }
}

/** `cargo test`: ids are the names that the runner prints; it has no structured report that is stable. */
export const cargoTest: TestRunner = {
  varies: { order: false, date: false },
  invoke: ({ options }) => ({
    script: 'exec cargo test --no-fail-fast "$@"',
    args: [...options],
    env: {},
    reportsOnStdout: true,
  }),
  read({ report = '' }) {
    const { tests, counts, add } = collectTests();
    for (const [, name = '', result] of report.matchAll(
      /^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)/gm,
    )) {
      add(name, result === 'ok' ? 'passed' : result === 'FAILED' ? 'failed' : 'skipped');
    }
    // Each program of tests says how many it runs, and in the end how they went.
    const started = [...report.matchAll(/^running \d+ tests?$/gm)].length;
    const ended = [...report.matchAll(/^test result: /gm)].length;
    const problems = ended < started ? [ENDED_EARLY] : [];
    return tests.size + problems.length === 0 ? NO_REPORT : { tests, counts, problems };
  },
};
