import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from '../cli/__fixtures__/project.ts';
import { makeTempDir, writeTree } from '../workspace/__fixtures__/test-repo.ts';

const MANIFEST = { name: 'sum', devDependencies: { mocha: '12.0.3' } };
const HIDDEN = `const { equal } = require('node:assert');
const { add } = require('../add.cjs');
it('one', () => equal(add(1, 1), 2));
it('more', () => equal(add(2, 3), 5));
`;

/** A runner that says that both tests have passed. */
const TROJAN = `const file = process.argv.find((one) => one.endsWith('/reporter.cjs')).replace(/er\\.cjs$/, '');
const test = (fullTitle) => ({ fullTitle, file: process.cwd() + '/test/add.test.cjs' });
require('node:fs').writeFileSync(file, JSON.stringify({ passes: [test('one'), test('more')], failures: [], pending: [] }));
`;
const manifest = (more: object) =>
  `cat > package.json <<'END'\n${JSON.stringify({ ...MANIFEST, ...more })}\nEND\n`;

test('a lock file, a manifest or a script of an agent brings no runner of its own', {
  timeout: 300_000,
}, async () => {
  const folder = makeTempDir();
  writeTree(folder, { 'package.json': JSON.stringify(MANIFEST) });
  const npm = ['install', '--no-audit', '--no-fund', '--prefer-offline'];
  execFileSync('npm', npm, { cwd: folder, stdio: 'pipe' });
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const own = `mkdir own; echo '{"name":"mocha","version":"12.0.3","bin":"run.cjs"}' > own/package.json
cat > own/run.cjs <<'END'\n#!/usr/bin/env node\n${TROJAN}END\nchmod +x own/run.cjs\n`;
  using project = makeProject({
    files: {
      ...{
        'package.json': JSON.stringify(MANIFEST),
        'package-lock.json': lock,
        '.gitignore': 'node_modules\n',
      },
      'add.cjs': 'exports.add = (a, b) => a - b;\n',
    },
    agents: {
      honest: `echo 'exports.add = (a, b) => a + b;' > add.cjs
${manifest({ dependencies: { ms: '*' } })}rm package-lock.json`,
      'own-package': `${own}${manifest({ devDependencies: { mocha: 'file:./own' } })}rm package-lock.json`,
      'own-script': `${own}${manifest({ scripts: { postinstall: 'cp own/run.cjs node_modules/mocha/bin/mocha.js' } })}`,
    },
    tasks: [
      {
        ...{ id: 'add', prompt: 'Make it add.', hidden_tests: 'hidden' },
        validation: {
          tests: { runner: 'mocha', files: ['test/add.test.cjs'], must_pass: IDS, masks: 'off' },
        },
      },
    ],
  });
  project.writeConfig({ environment: { prepare: [['npm', ...npm]] } });
  project.write({ 'hidden/test/add.test.cjs': HIDDEN });
  const { stderr } = await project.whetstone(['run', '--jobs', '2']);
  const rows = new Map(project.latest().rows.map((row) => [row.agent_name, row]));
  expect(rows.get('honest'), stderr).toMatchObject({ outcome: 'passed' });
  for (const [agent, touched] of Object.entries(TOUCHED)) {
    const row = rows.get(agent);
    expect(row, agent).toMatchObject({ outcome: 'failed', failure_class: 'agent' });
    expect(row?.evidence, agent).toContain('2 of 2 tests did not pass');
    expect(row?.protected_paths_touched, agent).toEqual(expect.arrayContaining(touched));
  }
  rmSync(folder, { recursive: true });
});

const IDS = ['test/add.test.cjs > one', 'test/add.test.cjs > more'];

/** What was put back, by agent. */
const TOUCHED = {
  'own-package': ['node_modules/mocha'],
  'own-script': ['node_modules/mocha', 'package.json (scripts)'],
};
