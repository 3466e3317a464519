import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { initRepo } from '../workspace/__fixtures__/git-folder.ts';
import { makeTempDir, writeTree } from '../workspace/__fixtures__/test-repo.ts';
import { runCommandLine } from './__fixtures__/command-line.ts';

test.each([
  [
    'pyproject.toml',
    'python3 -m venv .venv && .venv/bin/pip install -e . pytest',
    '.venv/bin/python -m pytest',
  ],
  ['Gemfile', 'bundle install', 'bundle exec rake test'],
  ['README.md', 'make deps', 'make test'],
])(
  'where only %s is found, the examples name commands of such projects, and none of npm',
  async (file, install, run) => {
    const folder = makeTempDir();
    writeTree(folder, { [file]: '' });
    initRepo(folder);
    const env = { PATH: process.env.PATH, HOME: folder };
    const ran = await runCommandLine({ args: ['init', '--yes'], cwd: folder, env });
    expect(ran).toMatchObject({ exitCode: 0 });
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    const examples = [...read('tasks.yaml').matchAll(/# {1,5}(setup: \[.*?\]|commands: \[.*\])/g)].map(
      ([, one]) => one,
    );
    const setup = `setup: [${install}]`;
    expect(examples.map((one) => parse(one ?? ''))).toEqual(
      [setup, setup, `commands: [${run}]`].map((one) => parse(one)),
    );
    expect(read('whetstone.yaml')).toContain(`your tests here: [${run}]\n`);
    expect(read('tasks.yaml') + read('whetstone.yaml')).not.toMatch(/\bnpm\b/);
  },
);
