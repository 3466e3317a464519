import { present } from '@whetstone/events/present';
import { PYTHON_SCRIPT, pythonLauncher } from './python-launcher.ts';
import {
  collectTests,
  ENDED_EARLY,
  NO_REPORT,
  type TestReport,
  type TestRunner,
  type TestStatus,
  type Variation,
} from './test-runner.ts';

const REVERSED = `
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items.reverse()`;

/** Workers of pytest-xdist send their results to the main process, which is the only one with this plugin. */
const pytestLauncher = ({ order, date }: Variation) =>
  pythonLauncher({
    ...present({ date }),
    imports: 'import pytest',
    body: `class _Reporter:
    def pytest_runtest_logreport(self, report):
        message = report.longreprtext[-4000:] if report.failed else None
        write(report.nodeid, report.when, 'skipped' if hasattr(report, 'wasxfail') else report.outcome, message)
    def pytest_collectreport(self, report):
        if report.failed:
            write(report.nodeid, 'collect', 'failed')${order ? REVERSED : ''}
write = report
code = pytest.main(arguments, plugins=[_Reporter()])`,
  });

const unittestLauncher = ({ order, date }: Variation) =>
  pythonLauncher({
    ...present({ date }),
    imports: '',
    body: `class _Result(unittest.TestResult):
    def addSuccess(self, test):
        report(test.id(), 'call', 'passed')
    def addFailure(self, test, error):
        super().addFailure(test, error)
        print(self.failures[-1][1], file=sys.stderr)
        report(test.id(), 'call', 'failed', self.failures[-1][1][-4000:])
    def addError(self, test, error):
        super().addError(test, error)
        print(self.errors[-1][1], file=sys.stderr)
        is_loaded = not isinstance(test, unittest.loader._FailedTest)
        report(test.id().split('_FailedTest.')[-1], 'call' if is_loaded else 'collect', 'failed', self.errors[-1][1][-4000:])
    def addSubTest(self, test, subtest, error):
        if error:
            self.addFailure(test, error)
    def addSkip(self, test, reason):
        report(test.id(), 'call', 'skipped')
    def addExpectedFailure(self, test, error):
        report(test.id(), 'call', 'skipped')
    def addUnexpectedSuccess(self, test):
        report(test.id(), 'call', 'failed')
_names = [path.removesuffix('.py').replace('/', '.') for path in arguments]
_result = _Result()
def _ordered(suite):
    tests = [_ordered(one) if isinstance(one, unittest.TestSuite) else one for one in suite]
    return unittest.TestSuite(reversed(tests))
_suite = unittest.TestLoader().loadTestsFromNames(_names)
${order ? '_suite = _ordered(_suite)\n' : ''}_suite.run(_result)
code = 0 if _result.wasSuccessful() else 1`,
  });

const invokes = (
  launcher: (vary: Variation) => string,
  own: readonly string[],
  terse: readonly string[] = [],
): TestRunner['invoke'] => {
  return ({ files, options }, folder, { isTerse, settings, order, date }) => {
    const isOurs = settings === 'ours';
    const alone = ['-c', `${folder}/own.ini`, '--rootdir=.', '--noconftest', '--import-mode=importlib'];
    return {
      script: PYTHON_SCRIPT,
      args: [
        ...[`${folder}/run.py`, `${folder}/report`, ...own, ...(isOurs ? alone : [])],
        ...[...(isTerse ? terse : []), ...options, ...files],
      ],
      env: { PYTHONDONTWRITEBYTECODE: '1', ...(isOurs && { PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1' }) },
      files: { 'run.py': launcher(present({ order, date })), ...(isOurs && { 'own.ini': '[pytest]\n' }) },
    };
  };
};

export const pytest: TestRunner = {
  varies: { order: true, date: true },
  invoke: invokes(pytestLauncher, ['-p', 'no:cacheprovider', '--tb=line'], ['--assert=plain']),
  read,
};

/** Ids are those of unittest: module, class and method. */
export const pythonUnittest: TestRunner = {
  varies: { order: true, date: true },
  invoke: invokes(unittestLauncher, []),
  read,
};

function read({ report }: Parameters<TestRunner['read']>[0]): TestReport {
  if (report === undefined || report === '') return NO_REPORT;
  const { tests, counts, messages, add } = collectTests();
  const problems: string[] = [];
  let hasTodaysDate = false;
  const lines = report.split('\n').filter(Boolean);
  for (const line of lines) {
    const [id, when, outcome, message]: [string, string, TestStatus, string?] = JSON.parse(line);
    if (when === 'date') hasTodaysDate = true;
    else if (when === 'collect') problems.push(`${id} could not be collected`);
    // A test that passes its set-up has not run yet, and one may still fail when it is torn down.
    else if (when === 'call') add(id, outcome, { message: message ?? undefined });
    else if (outcome !== 'passed' && when !== 'end') add(id, outcome, { isSame: true });
  }
  if (JSON.parse(lines.at(-1) ?? '[]')[1] !== 'end') problems.push(ENDED_EARLY);
  return { tests, counts, messages, problems, ...(hasTodaysDate && { hasTodaysDate }) };
}
