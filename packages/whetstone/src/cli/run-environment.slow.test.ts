import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { eventually, makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
const cache = mkdtempSync(join(tmpdir(), 'environment-slow-'));
afterEach(() => project?.[Symbol.dispose]());
afterAll(() => rmSync(cache, { recursive: true, force: true }));

const store = join(cache, 'whetstone/environments');
const entries = () => readdirSync(store).filter((name) => name !== 'locks');

test('only one of two runs prepares, and the next run ignores what a killed one leaves', async () => {
  project = makeProject({
    files: { 'package.json': '{}' },
    tasks: [{ id: 'one', prompt: 'x' }],
    config: {
      environment: {
        prepare: ['echo began >> "$COUNT"; until test -e "$GO"; do sleep 0.1; done; echo made > made'],
        env: { COUNT: `\${COUNT}`, GO: `\${GO}` },
      },
      evaluation: { commands: ['grep made made'] },
    },
  });
  const [count, go] = [join(project.root, 'count'), join(project.root, 'go')];
  const begun = () => (existsSync(count) ? readFileSync(count, 'utf8').split('\n').length - 1 : 0);
  const environment = { XDG_CACHE_HOME: cache, COUNT: count, GO: go };
  const killed = project.start(['run'], environment);
  await eventually('the first preparation', () => begun() === 1);
  expect(entries()).toEqual([expect.stringMatching(/^tmp-/)]);
  killed.child.kill('SIGKILL');
  await killed.finished;

  const first = project.start(['run'], environment);
  await eventually('the second preparation', () => begun() === 2);
  const second = project.start(['run'], environment);
  await second.said('Waiting for another process');
  writeFileSync(go, '');
  for (const { finished } of [first, second]) expect(await finished).toMatchObject({ exitCode: 0 });
  expect(entries()).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  expect(begun()).toBe(2);
});

const hasPython = (() => {
  try {
    execFileSync('python3', ['-c', 'import venv']);
    return true;
  } catch {
    return false;
  }
})();

test.runIf(hasPython)(
  'a virtual environment works in every case, and an edited module is compiled again',
  { tags: 'venv' },
  async () => {
    project = makeProject({
      files: {
        'requirements.txt': '',
        'lib/mod.py': 'print("old")\n',
        '.gitignore': '.venv\n__pycache__\n',
      },
      tasks: [{ id: 'one', prompt: 'x' }],
      agents: { editor: `echo 'print("new")' > lib/mod.py` },
      config: {
        environment: {
          inputs: 'all',
          prepare: [
            'python3 -m venv --without-pip .venv',
            `printf '#!%s/.venv/bin/python\\nimport sys, mod\\nprint(sys.prefix)\\n' "$PWD" > .venv/bin/tool`,
            'chmod +x .venv/bin/tool; cd .venv/lib/python3*/site-packages && echo "$OLDPWD/lib" > own.pth',
            '.venv/bin/tool; test -e lib/__pycache__; sleep 1',
          ],
        },
        evaluation: { commands: ['.venv/bin/tool > out && grep -qx new out && grep -qx "$PWD/.venv" out'] },
      },
    });
    const { exitCode, stderr } = await project.whetstone(['run', '--trials', '2', '--jobs', '2'], {
      XDG_CACHE_HOME: cache,
    });
    expect(exitCode, stderr).toBe(0);
    expect(project.latest().rows).toMatchObject([1, 2].map(() => ({ touched_paths: ['lib/mod.py'] })));
  },
);

const packages = {
  'packages/a': { version: '1.0.0', bin: { 'a-cli': 'cli.js' } },
  'node_modules/a': { resolved: 'packages/a', link: true },
};
const root = { name: 'all', version: '1.0.0', workspaces: ['packages/*'], dependencies: { a: '*' } };

test.each([
  ['links the programs of workspaces', {}, null],
  [
    'sees the whole tree where it runs a script of it',
    { prepare: 'node build.cjs' },
    'package.json has the script "prepare": node build.cjs',
  ],
])('npm ci %s', async (_, scripts, reason) => {
  project = makeProject({
    files: {
      'package.json': JSON.stringify({ ...root, scripts }),
      'package-lock.json': JSON.stringify({
        ...{ name: root.name, version: root.version, lockfileVersion: 3, requires: true },
        packages: { '': root, ...packages },
      }),
      'build.cjs': 'require("node:fs").writeFileSync("built", "");\n',
      '.gitignore': 'node_modules\nbuilt\n',
      'packages/a/package.json': JSON.stringify({ name: 'a', ...packages['packages/a'] }),
      'packages/a/cli.js': '#!/usr/bin/env node\nconsole.log("hello");\n',
    },
    tasks: [{ id: 'one', prompt: 'x' }],
    config: {
      environment: { prepare: ['npm ci --no-audit --no-fund'] },
      evaluation: {
        commands: [
          'test "$(node node_modules/.bin/a-cli)" = hello',
          reason === null ? 'test ! -e built' : 'test -e built',
        ],
      },
    },
  });
  const environment = { XDG_CACHE_HOME: cache };
  const planned = await project.whetstone(['run', '--dry-run', '--json'], environment);
  expect(JSON.parse(planned.stdout)).toMatchObject({ environment: { whole_tree: reason } });
  const { exitCode, stderr } = await project.whetstone(['run'], environment);
  expect(exitCode, stderr).toBe(0);
  if (reason !== null) expect(stderr).toContain(`of the whole tree (${reason})`);
});

test.runIf(hasPython)(
  'pip install -e . sees the whole tree, and tests of each case import its own sources',
  { tags: 'venv' },
  async () => {
    project = makeProject({
      files: {
        'pyproject.toml':
          '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["tools"]\n[project]\nname = "half"\nversion = "1"\n',
        // As hatchling and others do it: a path to the sources.
        'tools/backend.py': [
          'import os, zipfile',
          'def build_editable(folder, settings=None, metadata=None):',
          '    with zipfile.ZipFile(os.path.join(folder, "half-1-py3-none-any.whl"), "w") as wheel:',
          '        wheel.writestr("half.pth", os.path.realpath("src"))',
          '        wheel.writestr("half-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: half\\nVersion: 1\\n")',
          '        wheel.writestr("half-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")',
          '        wheel.writestr("half-1.dist-info/RECORD", "")',
          '    return "half-1-py3-none-any.whl"',
          '',
        ].join('\n'),
        'src/half.py': 'value = 1\n',
        '.gitignore': '.venv\n__pycache__\n',
      },
      tasks: [{ id: 'one', prompt: 'x' }],
      agents: { editor: `echo 'value = 2' > src/half.py` },
      config: {
        environment: {
          prepare: ['python3 -m venv .venv && .venv/bin/pip install -q --no-index --no-build-isolation -e .'],
        },
        evaluation: { commands: ['.venv/bin/python -c "import half; assert half.value == 2"'] },
      },
    });
    const { exitCode, stderr } = await project.whetstone(['run'], { XDG_CACHE_HOME: cache });
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain('-e .` installs the project itself)');
  },
);
