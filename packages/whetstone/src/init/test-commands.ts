import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A command that runs the tests of a repository, and the file that says so. */
export type TestCommand = {
  command: string;
  from: string;
};

/** The test commands that the files at the root of a repository name, the likeliest first. */
export function findTestCommands(root: string): TestCommand[] {
  const read = (name: string): string => {
    const file = join(root, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  const has = (name: string): boolean => existsSync(join(root, name));
  return [node, python, go, rust, make].flatMap((find) => find({ read, has }) ?? []);
}

type Files = { read: (name: string) => string; has: (name: string) => boolean };
type Find = (files: Files) => TestCommand | undefined;

/** What runs the tests, by the lock file of the package manager. */
const NODE_MANAGERS: readonly [lock: string, test: string][] = [
  ['pnpm-lock.yaml', 'pnpm test'],
  ['yarn.lock', 'yarn test'],
  ['bun.lock', 'bun run test'],
  ['bun.lockb', 'bun run test'],
];

const node: Find = ({ read, has }) => {
  const manifest = parsed(read('package.json'));
  const test = manifest?.scripts?.test;
  // `npm init` writes a script that only fails.
  if (typeof test !== 'string' || test.includes('no test specified')) return undefined;
  const [, command = 'npm test'] = NODE_MANAGERS.find(([lock]) => has(lock)) ?? [];
  return { command, from: 'package.json' };
};

const python: Find = ({ read, has }) => {
  const from = ['pyproject.toml', 'pytest.ini', 'setup.cfg', 'tox.ini'].find((name) =>
    name === 'pytest.ini' ? has(name) : read(name).includes('pytest'),
  );
  if (from === undefined) return undefined;
  if (has('uv.lock')) return { command: 'uv run pytest', from };
  if (has('poetry.lock')) return { command: 'poetry run pytest', from };
  return { command: 'python3 -m pytest', from };
};

const go: Find = ({ has }) => (has('go.mod') ? { command: 'go test ./...', from: 'go.mod' } : undefined);

const rust: Find = ({ has }) =>
  has('Cargo.toml') ? { command: 'cargo test', from: 'Cargo.toml' } : undefined;

const make: Find = ({ read }) => {
  const from = ['GNUmakefile', 'makefile', 'Makefile'].find((name) => /^test\s*:(?!=)/m.test(read(name)));
  return from === undefined ? undefined : { command: 'make test', from };
};

function parsed(text: string): { scripts?: Record<string, unknown> } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
