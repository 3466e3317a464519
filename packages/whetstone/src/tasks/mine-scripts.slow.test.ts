import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeProject } from '../cli/__fixtures__/project.ts';
import { makeHistory } from './__fixtures__/history.ts';
import { testOf } from './__fixtures__/small-project.ts';

const project = makeProject();
afterAll(() => project[Symbol.dispose]());

test('scripts of the project are left out of the installation until a task lacks something without', async () => {
  const half = (value: number, test: string) => ({
    'src/half.js': `export default ${value};\n`,
    'test/half.test.js': `import one from '../made/one.js';\n${testOf('half', test)}`,
  });
  const scripts = {
    test: 'node --test',
    prepare: 'mkdir -p made && cp src/one.js made && echo run >> made/log',
  };
  const history = makeHistory([
    {
      message: 'Start',
      files: {
        'package.json': JSON.stringify({ type: 'module', scripts }),
        'package-lock.json': '{"lockfileVersion":3,"packages":{}}',
        'src/one.js': 'export default 1;\n',
        'src/own.js': 'export default 0;\n',
        ...half(1, ''),
      },
    },
    { message: 'Half', files: half(2, 'assert.equal(it, 2 * one);') },
    {
      message: 'Own',
      files: {
        'src/own.js': 'export default 1;\n',
        'test/own.test.js': testOf('own', 'assert.equal(it, 1);'),
      },
    },
  ]);
  const cache = { XDG_CACHE_HOME: join(project.root, 'cache') };
  const mine = async (limit: string) => {
    const args = ['tasks', 'mine', '--repo', history, '--out', 'scripts', '--repeat', '2', '--limit', limit];
    const { stdout, stderr } = await project.whetstone(args, cache);
    const journal = readFileSync(join(project.root, 'scripts/mined.jsonl'), 'utf8').trim().split('\n');
    const tasks = journal.map((line) => JSON.parse(line));
    return {
      tasks: tasks.map(({ subject, status, needs_scripts = false }) => ({ subject, status, needs_scripts })),
      says: /configuration: environment: (.*)/.exec(stdout)?.[1],
      prepares: stderr.split('\n').filter((line) => line.startsWith('Prepar')),
    };
  };
  const own = { subject: 'Own', status: 'task', needs_scripts: false };
  expect(await mine('1')).toEqual({
    tasks: [own],
    says: '{ prepare: ["npm ci --ignore-scripts"] }',
    prepares: ['Prepare: npm ci --ignore-scripts', 'Preparing the environment: npm ci --ignore-scripts'],
  });
  expect(await mine('5')).toMatchObject({
    tasks: [own, { subject: 'Half', status: 'task', needs_scripts: true }],
    says: '{ prepare: ["npm ci"] }',
  });
  const check = await project.whetstone(['tasks', 'check', 'scripts', '--repo', history], cache);
  expect(check.stderr).toContain('Prepare: npm ci\n');
  expect(check.stdout).toContain('2 tasks, all fit for use');
  rmSync(history, { recursive: true });
}, 240_000);
