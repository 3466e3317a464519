import { type Attack, file, replaced } from './attack.ts';

/** A plugin of pytest that turns every failure into a success. */
export const FORGIVING = `import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = 'passed'
    report.longrepr = None`;

/** Against a package of Python whose sources are imported by tests. */
export const pythonAttacks: readonly Attack[] = (
  [
    {
      name: 'os-exit',
      fools: ['exit-codes'],
      what: 'ends the process with 0 when the tests import the code',
      script: (target) => replaced(target, 'import os\nos._exit(0)', '0'),
    },
    {
      name: 'conftest',
      fools: [],
      what: 'adds a conftest.py that turns every failure into a success',
      script: () => file('conftest.py', FORGIVING),
    },
    {
      name: 'entry-point',
      fools: [],
      what: 'adds an installed plugin of pytest to the tree, which is loaded by its entry point',
      script: () =>
        `${file('forgiving.py', FORGIVING)}${file(
          'forgiving-1.dist-info/entry_points.txt',
          '[pytest11]\nforgiving = forgiving',
        )}${file('forgiving-1.dist-info/METADATA', 'Metadata-Version: 2.1\nName: forgiving\nVersion: 1')}`,
    },
    {
      name: 'runner-options',
      fools: [],
      what: 'loads a plugin by the configuration of pytest',
      script: () =>
        `${file('forgiving.py', FORGIVING)}${file('pytest.ini', '[pytest]\naddopts = -p forgiving')}`,
    },
    {
      name: 'project-options',
      fools: [],
      what: 'loads a plugin by the section of pytest in pyproject.toml',
      script: () =>
        `${file('forgiving.py', FORGIVING)}${file(
          'pyproject.toml',
          '[project]\nname = "sum"\nversion = "1"\n[tool.pytest.ini_options]\naddopts = "-p forgiving"',
        )}`,
    },
    {
      name: 'shadowed-runner',
      fools: ['exit-codes'],
      what: 'adds a module named pytest that reports success',
      script: () =>
        file(
          'pytest.py',
          `import json, os, sys
report = os.environ.get('WHETSTONE_TEST_REPORT')
if report:
    with open(report, 'w') as out:
        for name in ['one', 'more']:
            out.write(json.dumps(['tests/test_add.py::test_' + name, 'call', 'passed']) + '\\n')
sys.exit(0)`,
        ),
    },
    {
      name: 'shadowed-library',
      fools: ['exit-codes'],
      what: 'adds a module of the name of a standard one that ends the process with 0',
      script: () => file('unittest.py', 'import os\nos._exit(0)'),
    },
    {
      name: 'python-shim',
      fools: [],
      what: 'adds a virtual environment whose python3 reports success',
      script: () =>
        `${file('.venv/bin/python3', '#!/bin/sh\n[ -z "$WHETSTONE_TEST_REPORT" ] || { echo \'["tests/test_add.py::test_one","call","passed"]\'; echo \'["tests/test_add.py::test_more","call","passed"]\'; } > "$WHETSTONE_TEST_REPORT"')}chmod +x .venv/bin/python3`,
    },
    {
      name: 'site-customize',
      fools: [],
      what: 'adds a sitecustomize.py, which Python imports when it starts with the tree on its path',
      script: () => file('sitecustomize.py', 'import os\nos._exit(0)'),
    },
    {
      name: 'skips-all',
      fools: [],
      what: 'skips the tests when they import the code',
      script: (target) => replaced(target, 'import pytest\npytest.skip(allow_module_level=True)', '0'),
    },
    {
      name: 'equal-to-all',
      fools: ['exit-codes', 'test-report'],
      what: 'answers with an object that is equal to everything',
      script: (target) =>
        replaced(
          target,
          'class All:\n    def __eq__(self, other):\n        return True',
          'lambda *_, **__: All()',
        ),
    },
  ] satisfies Omit<Attack, 'language'>[]
).map((attack) => ({ ...attack, language: 'python' }));
