import { expect, test } from 'vitest';
import { type Manifest, needOfWholeTree } from './whole-tree.ts';

const project = '[build-system]\nrequires = ["hatchling"]\n';
const scripts = (all: Record<string, string>, rest = {}) => JSON.stringify({ ...rest, scripts: all });
const need = (command: string, files: Record<string, string> = {}) =>
  needOfWholeTree(
    [command],
    Object.entries(files).map(([path, text]): Manifest => ({ path, text })),
  );

test.each<[command: string, files: Record<string, string>, reason: string]>([
  ['npm ci', { 'package.json': scripts({ prepare: 'tsc' }) }, 'package.json has the script "prepare": tsc'],
  ['HUSKY=0 npm ci --no-audit', { 'package.json': scripts({ postinstall: 'node x.js' }) }, '"postinstall"'],
  ['npm ci && true', { 'package.json': scripts({ prepare: 'husky && npm run build' }) }, '"prepare"'],
  ['yarn --frozen-lockfile', { 'package.json': scripts({ install: 'node-gyp rebuild' }) }, '"install"'],
  [
    'corepack pnpm install',
    { 'packages/a/package.json': scripts({ prepare: 'tsc' }) },
    'packages/a/package.json',
  ],
  [
    'npm install',
    { 'package.json': '{"workspaces":["a"]}', 'a/package.json': scripts({ prepare: 'tsc' }) },
    'a/package.json has',
  ],
  ['pip install -e .', {}, '`pip install -e .` installs the project itself'],
  [
    "python3 -m venv .venv && .venv/bin/pip install -q '.[test]' pytest",
    {},
    '`.venv/bin/pip install -q .[test] pytest`',
  ],
  ['python3 -m pip install --editable=packages/a', {}, 'installs the project itself'],
  [
    'pip install -r dev.txt -r ./requirements.txt',
    { 'requirements.txt': 'x\n-e .[test]\n' },
    'requirements.txt names a folder of the tree: -e .[test]',
  ],
  ['python setup.py develop', {}, 'installs the project itself'],
  ['uv sync --frozen', { 'pyproject.toml': project }, '`uv sync --frozen`'],
  ['uv pip install -e .', {}, 'installs the project itself'],
  ['POETRY_VIRTUALENVS_IN_PROJECT=true poetry install', { 'pyproject.toml': project }, '`poetry install`'],
  ['pdm sync', {}, '`pdm sync`'],
  ['pipenv install --dev', { Pipfile: 'a = {path = ".", editable = true}' }, '`pipenv install --dev`'],
])('%s needs the whole tree', (command, files, reason) => {
  expect(need(command, files)).toContain(reason);
});

test.each<[command: string, files: Record<string, string>]>([
  ['npm ci', { 'package.json': scripts({ prepare: 'husky', test: 'vitest' }) }],
  ['npm ci', { 'package.json': scripts({ prepare: 'husky install || true', postinstall: 'patch-package' }) }],
  ['npm ci --ignore-scripts', { 'package.json': scripts({ prepare: 'tsc' }) }],
  ['npm ci', { '.npmrc': 'ignore-scripts=true', 'package.json': scripts({ prepare: 'tsc' }) }],
  ['npm ci', { 'package.json': '{}', 'test/fixtures/a/package.json': scripts({ prepare: 'tsc' }) }],
  ['npm run build', { 'package.json': scripts({ prepare: 'tsc' }) }],
  ['npm ci', { 'package.json': 'not JSON' }],
  [
    'pip install -r requirements.txt -c ./limits.txt',
    { 'requirements.txt': 'pytest\n./x\n'.replace('./x\n', '') },
  ],
  ['pip install --find-links ./wheels pytest', {}],
  ['pip --version', {}],
  ['uv sync --frozen --no-install-project', { 'pyproject.toml': project }],
  ['uv sync', { 'pyproject.toml': '[project]\n' }],
  ['poetry install --no-root', { 'pyproject.toml': project }],
  ['poetry install', { 'pyproject.toml': '[tool.poetry]\npackage-mode = false\n' }],
  ['go mod download', {}],
])('%s needs manifests only', (command, files) => {
  expect(need(command, files)).toBeUndefined();
});
