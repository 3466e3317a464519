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

/**
 * Starts a program for cargo. Programs of libtest run their tests in other orders, from Rust 1.58 on: their texts name the
 * variable. A stable one accepts `-Z` where `RUSTC_BOOTSTRAP` is set; a compiler that a test starts stays stable, because no crate
 * has the name 0. What a seed does depends on the names of the tests, and two tests keep their order in every second
 * case, so there are three. Where cargo starts the documentation's tests in this way, it does not say which program each
 * of them needs for a process of its own.
 */
const REORDERING = `case $1 in */rustdoctest*) export RUSTDOC_DOCTEST_BIN_PATH="$1"; exec "$@" ;; esac
grep -q RUST_TEST_SHUFFLE_SEED "$1" || exec "$@"
export RUSTC_BOOTSTRAP=0
code=0
for seed in 1 2 3; do
  RUST_TEST_SHUFFLE_SEED=$seed "$@" -Z unstable-options || code=$?
done
exit $code
`;

/** Cargo starts all programs with `$REORDERING`, unless the project has its own way of starting them. */
const REORDERED = [
  `grep -qs '^[^#]*runner *=' .cargo/config* "$ROOT"/.cargo/config* ||`,
  `export "CARGO_TARGET_$(rustc -vV | sed -n 's/^host: //p' | tr a-z.- A-Z__)_RUNNER=sh $REORDERING";`,
  'unset REORDERING; ',
].join(' ');

/** `cargo test`: ids are the names that the runner prints; it has no structured report that is stable. */
export const cargoTest: TestRunner = {
  varies: { order: true, date: false },
  invoke: ({ options }, folder, { order }) => ({
    script: `${order ? REORDERED : ''}exec cargo test --no-fail-fast "$@"`,
    args: [...options],
    env: order ? { REORDERING: `${folder}/reordering.sh` } : {},
    ...(order && { files: { 'reordering.sh': REORDERING } }),
    reportsOnStdout: true,
  }),
  read({ report = '', order }) {
    const { tests, counts, add } = collectTests();
    for (const [, name = '', result] of report.matchAll(
      /^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)/gm,
    )) {
      const status = result === 'ok' ? 'passed' : result === 'FAILED' ? 'failed' : 'skipped';
      add(name, status, { isSame: order ?? false });
    }
    // Each program of tests says how many it runs, and in the end how they went.
    const started = [...report.matchAll(/^running \d+ tests?( \(shuffle seed: \d+\))?$/gm)];
    const ended = [...report.matchAll(/^test result: /gm)].length;
    const problems = ended < started.length ? [ENDED_EARLY] : [];
    if (tests.size + problems.length === 0) return NO_REPORT;
    const hasUsualOrder = order && !started.some(([, seed]) => seed);
    return { tests, counts, problems, ...(hasUsualOrder && { hasUsualOrder }) };
  },
};
