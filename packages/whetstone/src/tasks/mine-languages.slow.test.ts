import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from '../cli/__fixtures__/project.ts';
import type { Checked } from '../cli/tasks-check.ts';
import { installedRunners } from '../verify/__fixtures__/installed-runners.ts';
import { type HistoryStep, makeHistory } from './__fixtures__/history.ts';
import type { Mined } from './mine.ts';

type Files = HistoryStep['files'];
type Language = {
  name: string;
  /** What has to start here, or the tests are skipped. */
  needs: [program: string, ...args: string[]];
  start: Files;
  fix: Files;
  /** Ids of tests, as the runner reports them. */
  mustPass: string[];
  /** Why tests are left out, by id. */
  excluded?: Record<string, string>;
  prepare?: string;
};

const starts = ([program, ...args]: Language['needs']): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
};

const python = {
  start: {
    'half.py': 'def half(n):\n    return n / 3\n',
    'test_half.py': 'from half import half\n\ndef test_zero():\n    assert half(0) == 0\n',
  },
  fix: {
    'half.py': 'def half(n):\n    return n / 2\n',
    'test_half.py':
      'from half import half\n\ndef test_zero():\n    assert half(0) == 0\n\ndef test_four():\n    assert half(4) == 2\n',
  },
  mustPass: ['test_half.py::test_four', 'test_half.py::test_zero'],
};

/** The year after the next: later than today, and earlier than the later date of a varied run. */
const SOON = new Date().getFullYear() + 2;
/** Ways to ask for the year. */
const DATES = [
  ['date', 'datetime.date.today().year'],
  ['now', 'datetime.datetime.now(datetime.timezone.utc).year'],
  ['seconds', 'time.gmtime(time.time()).tm_year'],
  ['text', 'int(time.strftime("%Y"))'],
] as const;

const nodeTestOf = (more: string): string => `const assert = require('node:assert');
const { test } = require('node:test');
const { half } = require('../half.js');
test('zero', () => assert.equal(half(0), 0));
${more}`;

const modules = await installedRunners();
const mochaTest = `const assert = require('node:assert');
const { half } = require('../half.js');
it('zero', () => assert.equal(half(0), 0));
`;

const languages: Language[] = [
  {
    name: 'Go',
    needs: ['go', 'version'],
    start: {
      'go.mod': 'module example.com/half\n\ngo 1.19\n',
      'half.go': 'package half\n\nfunc Half(n int) int { return n / 3 }\n',
      'half_test.go':
        'package half\n\nimport "testing"\n\nfunc TestZero(t *testing.T) {\n\tif Half(0) != 0 {\n\t\tt.Fail()\n\t}\n}\n',
    },
    fix: {
      'half.go': 'package half\n\nfunc Half(n int) int { return n / 2 }\n',
      'half_test.go':
        'package half\n\nimport "testing"\n\nfunc TestZero(t *testing.T) {\n\tif Half(0) != 0 {\n\t\tt.Fail()\n\t}\n}\n\nfunc TestFour(t *testing.T) {\n\tif Half(4) != 2 {\n\t\tt.Fail()\n\t}\n}\n',
    },
    mustPass: ['TestFour', 'TestZero'],
    // The compiled standard library stays in HOME, else each run of the tests compiles it.
    prepare: 'go build testing os',
  },
  {
    name: 'Rust',
    needs: ['cargo', '--version'],
    start: {
      'Cargo.toml': '[package]\nname = "half"\nversion = "0.1.0"\nedition = "2018"\n',
      'Cargo.lock': 'version = 3\n\n[[package]]\nname = "half"\nversion = "0.1.0"\n',
      '.gitignore': 'target\n',
      '.cargo/config.toml': '[env]\nRUST_TEST_THREADS = "1"\n',
      'src/lib.rs': 'pub fn half(n: i32) -> i32 {\n    n / 3\n}\n',
      'tests/half.rs': '#[test]\nfn zero() {\n    assert_eq!(half::half(0), 0);\n}\n',
    },
    fix: {
      'src/lib.rs': 'pub fn half(n: i32) -> i32 {\n    n / 2\n}\n',
      'tests/half.rs':
        '#[test]\nfn zero() {\n    assert_eq!(half::half(0), 0);\n}\n\n#[test]\nfn four() {\n    assert_eq!(half::half(4), 2);\n}\n',
      'tests/seen.rs': `use std::sync::atomic::{AtomicI32, Ordering};

static SEEN: AtomicI32 = AtomicI32::new(0);

#[test]
fn first() {
    SEEN.store(half::half(4), Ordering::SeqCst);
}

#[test]
fn second() {
    assert_eq!(SEEN.load(Ordering::SeqCst), 2);
}
`,
    },
    mustPass: ['first', 'four', 'zero'],
    excluded: { second: 'depends on the order of the tests' },
  },
  {
    name: 'Python with pytest',
    needs: ['python3', '-m', 'pytest', '--version'],
    ...python,
    start: { 'pyproject.toml': '[project]\nname = "half"\nversion = "1"\n', ...python.start },
    fix: {
      ...python.fix,
      'test_half.py': `${python.fix['test_half.py']}\nseen = []\n\ndef test_first():\n    seen.append(half(2))\n\ndef test_second():\n    assert seen == [1]\n${DATES.map(([name, value]) => `\ndef test_${name}():\n    import datetime, time\n    assert ${value} < ${SOON}\n`).join('')}`,
    },
    mustPass: ['test_half.py::test_first', ...python.mustPass],
    excluded: {
      'test_half.py::test_second': 'depends on the order of the tests',
      ...Object.fromEntries(DATES.map(([name]) => [`test_half.py::test_${name}`, 'depends on the date'])),
    },
  },
  {
    name: 'JavaScript with node:test',
    needs: [process.execPath, '--test-randomize', '--version'],
    start: {
      'package.json': '{"scripts":{"test":"node --test"}}\n',
      'half.js': 'exports.half = (n) => n / 3;\n',
      'test/half.test.js': nodeTestOf(''),
    },
    fix: {
      'half.js': 'exports.half = (n) => n / 2;\n',
      'test/half.test.js': nodeTestOf(
        `let seen = 0;\ntest('first', () => { seen = half(4); assert.equal(seen, 2); });\ntest('second', () => assert.equal(seen, 2));\n`,
      ),
    },
    mustPass: ['first', 'zero'],
    excluded: { 'test/half.test.js > second': 'depends on the order of the tests' },
    // The Node of the machine may not know another order.
    prepare: `mkdir -p node_modules/.bin && ln -s '${process.execPath}' node_modules/.bin/node`,
  },
  {
    name: 'JavaScript with Mocha',
    needs: ['true'],
    start: {
      'package.json': '{"scripts":{"test":"mocha"}}\n',
      'half.js': 'exports.half = (n) => n / 3;\n',
      'test/half.js': mochaTest,
    },
    fix: {
      'half.js': 'exports.half = (n) => n / 2;\n',
      'test/half.js': `${mochaTest}describe('four', () => {
  let seen = 0;
  it('first', () => { seen = half(4); assert.equal(seen, 2); });
  it('second', () => assert.equal(seen, 2));
});
`,
    },
    mustPass: ['four first', 'zero'],
    excluded: { 'test/half.js > four second': 'depends on the order of the tests' },
    prepare: `ln -s ${modules} node_modules`,
  },
  {
    name: 'Python with Poetry',
    // Its virtual environments use the packages of its own Python.
    needs: ['sh', '-c', `$(sed -n '1s/^#!//p' "$(command -v poetry)") -c 'import poetry, pytest'`],
    ...python,
    start: {
      'poetry.toml': '[virtualenvs]\nin-project = true\n[virtualenvs.options]\nsystem-site-packages = true\n',
      'pyproject.toml':
        '[tool.poetry]\nname = "half"\nversion = "1"\ndescription = ""\nauthors = []\n\n[tool.poetry.dependencies]\npython = "*"\n',
      ...python.start,
    },
    prepare: 'poetry install --no-root',
  },
];

test.each(languages.filter(({ needs }) => starts(needs)))(
  'a commit of $name becomes a task that the gold patch passes and no work fails',
  async ({ start, fix, mustPass, excluded = {}, prepare }) => {
    using project = makeProject();
    const repo = makeHistory([
      { message: 'Start', files: start },
      { message: 'Halve', files: fix },
    ]);
    const out = join(project.root, 'mined');
    const place = ['--repo', repo, ...(prepare === undefined ? [] : ['--prepare', prepare])];
    const environment = { XDG_CACHE_HOME: join(project.root, 'cache') };
    const mined = await project.whetstone(
      ['tasks', 'mine', ...place, '--out', out, '--repeat', '2', '--json'],
      environment,
    );
    const { tried }: Mined = JSON.parse(mined.stdout);
    expect(tried, mined.stderr).toMatchObject([{ subject: 'Halve', status: 'task' }]);
    const [{ task = '' } = {}] = tried;
    expect(tried[0]?.excluded).toEqual(Object.entries(excluded).map(([test, reason]) => ({ test, reason })));
    const ids: string[] = JSON.parse(readFileSync(join(out, task, 'must-pass.json'), 'utf8'));
    expect(ids.map((id) => id.split(/ > |\//).at(-1)).sort()).toEqual(mustPass);
    const checked = await project.whetstone(['tasks', 'check', out, ...place, '--json'], environment);
    const { checks }: { checks: Checked[] } = JSON.parse(checked.stdout);
    expect(checks).toMatchObject([
      { nop: { passed: 0, runs: 1 }, gold: { passed: 1, runs: 1 }, flaky: null, problems: [] },
    ]);
    rmSync(repo, { recursive: true });
  },
  240_000,
);
