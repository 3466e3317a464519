import { expect, test } from 'vitest';
import { isInput } from './key-inputs.ts';

const decides = isInput(undefined);

test.each([
  ...[
    'package.json',
    'packages/a/package.json',
    'package-lock.json',
    'npm-shrinkwrap.json',
    '.npmrc',
    '.nvmrc',
  ],
  ...['yarn.lock', '.yarnrc.yml', '.yarn/patches/a.patch', '.yarn/plugins/@yarnpkg/plugin-a.cjs'],
  ...['.yarn/releases/yarn-4.cjs', 'bun.lock', 'bun.lockb', 'patches/a+1.0.0.patch'],
  ...['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.pnpmfile.cjs', '.tool-versions', 'mise.toml'],
  ...[
    'pyproject.toml',
    'setup.py',
    'setup.cfg',
    'requirements.txt',
    'requirements-dev.txt',
    'requirements/a.txt',
  ],
  ...['uv.lock', 'poetry.lock', 'Pipfile', 'Pipfile.lock'],
  ...['go.mod', 'go.sum', 'go.work', 'vendor/modules.txt', 'tools/go.mod'],
  ...[
    'Cargo.toml',
    'crates/a/Cargo.toml',
    'Cargo.lock',
    'rust-toolchain',
    'rust-toolchain.toml',
    'crates/a/build.rs',
  ],
])('%s decides which packages are installed', (path) => {
  expect(decides(path)).toBe(true);
});

test.each(['src/package.ts', 'README.md', 'src/setup.ts', 'vendor/a/a.go', '.yarn/cache/a.zip', 'AGENTS.md'])(
  '%s does not',
  (path) => {
    expect(decides(path)).toBe(false);
  },
);

test('the inputs of a configuration take the place of these, and all is every file', () => {
  const own = isInput(['deps/*.txt']);
  expect(['deps/a.txt', 'deps/b/a.txt', 'package.json'].map(own)).toEqual([true, false, false]);
  expect(isInput('all')('src/a.ts')).toBe(true);
});
