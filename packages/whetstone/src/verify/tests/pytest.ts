import { collectTests, NO_REPORT, type TestRunner, type TestStatus } from './test-runner.ts';

/** A plugin that writes a line of JSON for each phase of a test. Workers of pytest-xdist send theirs to the main process. */
const PLUGIN = `import json, os
_is_worker = 'PYTEST_XDIST_WORKER' in os.environ
_out = open(os.devnull if _is_worker else os.environ['WHETSTONE_TEST_REPORT'], 'w', buffering=1)
def pytest_runtest_logreport(report):
    outcome = 'skipped' if hasattr(report, 'wasxfail') else report.outcome
    _out.write(json.dumps([report.nodeid, report.when, outcome]) + '\\n')
def pytest_collectreport(report):
    if report.failed:
        _out.write(json.dumps([report.nodeid, 'collect', 'failed']) + '\\n')
`;

/** Runs `python3`, or the virtual environment `.venv` of the tree where there is one. */
export const pytest: TestRunner = {
  varies: { order: false, date: false },
  invoke: ({ files, options }, folder) => ({
    script: 'PATH="$PWD/.venv/bin:$ROOT/.venv/bin:$PATH" exec python3 -m pytest "$@"',
    args: ['-p', 'whetstone_report', '-p', 'no:cacheprovider', '--tb=line', ...options, ...files],
    env: {
      WHETSTONE_TEST_REPORT: `${folder}/report`,
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    files: { 'whetstone_report.py': PLUGIN },
  }),
  read({ report }) {
    if (report === undefined) return NO_REPORT;
    const { tests, add } = collectTests();
    const problems: string[] = [];
    for (const line of report.split('\n').filter(Boolean)) {
      const [id, when, outcome]: [string, string, TestStatus] = JSON.parse(line);
      if (when === 'collect') problems.push(`${id} could not be collected`);
      // A test that passes its set-up has not run yet, and one may still fail when it is torn down.
      else if (when === 'call' || outcome !== 'passed') add(id, outcome);
    }
    return { tests, problems };
  },
};
