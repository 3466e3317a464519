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
  /** Ids of tests that pass only in their own order. */
  ordered?: string[];
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
      'src/lib.rs': 'pub fn half(n: i32) -> i32 {\n    n / 3\n}\n',
      'tests/half.rs': '#[test]\nfn zero() {\n    assert_eq!(half::half(0), 0);\n}\n',
    },
    fix: {
      'src/lib.rs': 'pub fn half(n: i32) -> i32 {\n    n / 2\n}\n',
      'tests/half.rs':
        '#[test]\nfn zero() {\n    assert_eq!(half::half(0), 0);\n}\n\n#[test]\nfn four() {\n    assert_eq!(half::half(4), 2);\n}\n',
    },
    mustPass: ['four', 'zero'],
  },
  {
    name: 'Python with pytest',
    needs: ['python3', '-m', 'pytest', '--version'],
    ...python,
    start: { 'pyproject.toml': '[project]\nname = "half"\nversion = "1"\n', ...python.start },
    fix: {
      ...python.fix,
      'test_half.py': `${python.fix['test_half.py']}\nseen = []\n\ndef test_first():\n    seen.append(half(2))\n\ndef test_second():\n    assert seen == [1]\n`,
    },
    mustPass: ['test_half.py::test_first', ...python.mustPass],
    ordered: ['test_half.py::test_second'],
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
    ordered: ['test/half.js > four second'],
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
  async ({ start, fix, mustPass, ordered = [], prepare }) => {
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
    expect(tried[0]?.excluded).toEqual(
      ordered.map((test) => ({ test, reason: 'depends on the order of the tests' })),
    );
    const ids: string[] = JSON.parse(readFileSync(join(out, task, 'must-pass.json'), 'utf8'));
    expect(ids.map((id) => id.split(/ > |\//).at(-1)).sort()).toEqual(mustPass);
    const checked = await project.whetstone(['tasks', 'check', out, ...place, '--json'], environment);
    const { checks }: { checks: Checked[] } = JSON.parse(checked.stdout);
    expect(checks).toMatchObject([
      { nop: { passed: 0, runs: 1 }, gold: { passed: 1, runs: 1 }, flaky: [], problems: [] },
    ]);
    rmSync(repo, { recursive: true });
  },
  240_000,
);
