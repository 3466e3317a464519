import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** How projects of a kind install their packages and run their tests. */
export type UsualCommands = { install: string; test: string };

const VIRTUAL = 'python3 -m venv .venv && .venv/bin/pip install';
const PYTEST = '.venv/bin/python -m pytest';

/** By a file at the root of the repository. */
const BY_FILE: readonly [file: string, commands: UsualCommands][] = [
  ['package.json', { install: 'npm ci', test: 'npm test' }],
  ['requirements.txt', { install: `${VIRTUAL} -r requirements.txt`, test: PYTEST }],
  ['pyproject.toml', { install: `${VIRTUAL} -e . pytest`, test: PYTEST }],
  ['setup.py', { install: `${VIRTUAL} -e . pytest`, test: PYTEST }],
  ['go.mod', { install: 'go mod download', test: 'go test ./...' }],
  ['Cargo.toml', { install: 'cargo fetch', test: 'cargo test' }],
  ['Gemfile', { install: 'bundle install', test: 'bundle exec rake test' }],
  ['pom.xml', { install: 'mvn -B dependency:go-offline', test: 'mvn -B -o test' }],
];

/** What examples name where the repository itself does not say how it is installed and tested. */
export const usualCommands = (root: string): UsualCommands =>
  BY_FILE.find(([file]) => existsSync(join(root, file)))?.[1] ?? { install: 'make deps', test: 'make test' };
