import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runGit } from '../workspace/__fixtures__/test-repo.ts';
import { findPreparations } from './find-preparations.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'preparations-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function found(files: Record<string, string>) {
  rmSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return findPreparations(folder);
}

test('a lock file that is in no commit does not count, because no case sees it', () => {
  const git = (...args: string[]) => runGit(folder, args);
  found({ 'package.json': '{}', 'package-lock.json': '{}', '.gitignore': 'package-lock.json\n' });
  expect(findPreparations(folder)).toMatchObject([{ commands: ['npm ci'] }]);
  git('init', '--quiet');
  expect(findPreparations(folder)).toMatchObject([{ commands: ['npm ci'] }]);
  git('add', '.');
  git('commit', '--quiet', '--message', 'Start');
  expect(findPreparations(folder)).toEqual([]);
  git('add', '--force', 'package-lock.json');
  git('commit', '--quiet', '--message', 'Lock');
  expect(findPreparations(folder)).toMatchObject([{ commands: ['npm ci'] }]);
});

test('lock files say how exactly these packages are installed', () => {
  const command = (...names: string[]) => {
    const [first] = found(Object.fromEntries([...names, 'README.md'].map((name) => [name, ''])));
    return first && [...first.commands, first.inputs ?? 'default'];
  };
  expect(command('package-lock.json')).toEqual(['npm ci', 'default']);
  expect(command('pnpm-lock.yaml', 'package-lock.json')).toEqual([
    'pnpm install --frozen-lockfile',
    'default',
  ]);
  expect(command('yarn.lock')).toEqual(['yarn install --frozen-lockfile', 'default']);
  expect(command('bun.lock')).toEqual(['bun install --frozen-lockfile', 'default']);
  expect(command('uv.lock', 'requirements.txt')).toEqual([
    'uv sync --frozen --no-install-project',
    'default',
  ]);
  const poetry = 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-root';
  expect(command('poetry.lock')).toEqual([poetry, 'default']);
  // The sources of a package in the tree are more than a lock file.
  const [local] = found({ 'poetry.lock': '[package.source]\ntype = "directory"\nurl = "lib"\n' });
  expect(local).toMatchObject({ commands: [poetry], inputs: 'all' });
  expect(found({ 'uv.lock': 'source = { editable = "lib" }\n' })[0]?.inputs).toBe('all');
  expect(
    found({ 'uv.lock': 'source = { virtual = "." }\nsource = { editable = "." }\n' })[0]?.inputs,
  ).toBeUndefined();
  expect(command('requirements.txt', 'package-lock.json')).toEqual([
    'npm ci',
    'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt',
    'default',
  ]);
  expect(command('go.sum')).toEqual(['go mod download', 'default']);
  expect(command('Cargo.lock')).toEqual(['cargo fetch --locked', 'all']);
  expect(command()).toBeUndefined();
});

test('what was written for agents comes first, then lock files, other workflows and the container', () => {
  const step = (run: string) => `      - run: ${run}\n`;
  const workflow = (...runs: string[]) =>
    `on: push\njobs:\n  job:\n    steps:\n      - uses: actions/checkout@v4\n${runs.map(step).join('')}`;
  expect(
    found({
      '.github/workflows/copilot-setup-steps.yml': workflow(
        'npm ci',
        '|\n          npm run build\n          # done',
      ),
      '.github/workflows/ci.yaml': workflow(
        ...[
          'npm ci',
          'npm install -g nx',
          'npm test',
          'pip install -r dev.txt',
          `npm ci --\${{ matrix.flag }}`,
        ],
      ),
      '.github/workflows/broken.yml': 'jobs: [',
      '.devcontainer/devcontainer.json':
        '{\n  // comment\n  "onCreateCommand": "make deps",\n  "postStartCommand": "npm start",\n  "updateContentCommand": {"a": "npm ci"}\n}',
      'package-lock.json': '{}',
    }),
  ).toEqual([
    {
      commands: ['npm ci', 'npm run build'],
      from: '.github/workflows/copilot-setup-steps.yml',
      inputs: 'all',
    },
    { commands: ['npm ci'], from: 'package-lock.json' },
    { commands: ['npm ci', 'pip install -r dev.txt'], from: '.github/workflows/ci.yaml' },
    { commands: ['make deps', 'npm ci'], from: '.devcontainer/devcontainer.json' },
  ]);
});
