import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeEvals, removeEvals } from './__fixtures__/eval-project.ts';

afterAll(removeEvals);

/** Our own loop, with a script as its model. */
const PROJECT = {
  'whetstone.config.ts': `
import { appendFileSync } from 'node:fs';
import { defineConfig } from 'whetstone';
appendFileSync(new URL('loads.txt', import.meta.url), 'x');
export default defineConfig({ gateway: { mode: 'script', script: 'model.yaml' } });
`,
  'model.yaml': `
name: model
rules:
  - when: { user_contains: 'And again' }
    steps:
      - text: Once more.
  - steps:
      - text: I will write it.
        calls:
          - { tool: shell, command: 'echo "export const sum = (a, b) => a + b;" > sum.mjs; rm old.txt' }
      - text: It is there.
`,
  'experiments/loop.ts': `
import { defineExperiment } from 'whetstone';
export default defineExperiment({ agent: { kind: 'loop', profile: 'openai' } });
`,
};

const SUM_TESTS = `
import assert from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { sum } from './sum.mjs';

test('sums', () => assert.equal(sum(1, 2), 3));
test('did it in one command', () => {
  const { o11y } = JSON.parse(readFileSync('__niceeval__/results.json', 'utf8'));
  assert.equal(o11y.shellCommands.length, 1);
});
`;

const FIXTURE = {
  'package.json': JSON.stringify({ scripts: { good: 'node sum.mjs', bad: 'node -e "process.exit(3)"' } }),
  'old.txt': 'old\n',
  'EVAL.mjs': SUM_TESTS,
};

const fixtureAt = (folder: string) =>
  Object.fromEntries(Object.entries(FIXTURE).map(([name, text]) => [`${folder}/${name}`, text]));

test('an eval of an agent that works on files sees what changed, and asks clean rooms', async () => {
  const project = makeEvals({
    ...PROJECT,
    ...fixtureAt('evals/sum/start'),
    'evals/sum/sum.eval.ts': `
import { defineEval, includes, lastEdit } from 'whetstone';

export default defineEval({
  fixture: './start',
  async test(t) {
    await t.send('Write sum.');
    t.fileChanged('sum.mjs', { status: 'added', after: includes('a + b') });
    t.fileDeleted('old.txt').label('cleaned up');
    t.sandbox.diff.changedOnly(['sum.mjs', 'old.txt']);
    t.testsPassed();
    await t.scriptPassed('good').orStop();
    t.scriptPassed('bad').soft();
    t.ran(/echo/);
    t.log((await t.sandbox.diff.files()).map(({ path, status }) => status + ' ' + path).join(', '));
    t.log(await t.sandbox.diff.get('sum.mjs'));
    t.check((await t.sandbox.diff.files()).find(({ path }) => path === 'old.txt').before(), includes('old'));
    const turn = await t.send('And again.');
    turn.check(turn.reply, includes('Once more'));
  },
});
`,
  });
  const { exitCode, stderr } = await project.whetstone(['exp']);
  expect(stderr).not.toContain('error');
  const { 'sum/sum': row } = project.rows();
  expect(row?.assertions?.filter(({ status }) => status !== 'passed')).toMatchObject([
    {
      name: 'scriptPassed("bad")',
      severity: 'soft',
      status: 'failed',
      message: expect.stringContaining('exited 3'),
    },
  ]);
  expect(row).toMatchObject({
    outcome: 'passed',
    touched_paths: ['old.txt', 'sum.mjs'],
    usage_source: 'gateway',
    model_calls: 3,
    validation_results: [{ exit_code: 0 }, { command: 'npm run --silent good' }, { exit_code: 3 }],
  });
  expect(exitCode).toBe(0);
  // The code of the user runs once, although the process starts anew for cases with files.
  expect(readFileSync(join(project.root, 'loads.txt'), 'utf8')).toBe('x');
  expect(project.read('sum/sum', 'eval.log')).toContain('deleted old.txt, added sum.mjs');
  expect(project.read('sum/sum', 'check-1/validation-0.stdout.log')).toContain('sums');
});

const LOOK = `
import { defineEval, excludes, includes } from 'whetstone';
export default defineEval({
  async test(t) {
    await t.send('Look around.');
    t.check(await t.sandbox.diff.get('seen.txt'), includes('readme.md'));
    t.check(await t.sandbox.diff.get('seen.txt'), excludes('look.eval.ts'));
    t.check(await t.sandbox.diff.get('seen.txt'), excludes('experiments/loop.ts'));
  },
});
`;

test('a folder with a PROMPT.md is an eval, and its tests are hidden until the agent is done', async () => {
  const project = makeEvals({
    ...PROJECT,
    ...fixtureAt('evals/folder'),
    'evals/folder/PROMPT.md': 'Write sum.\n',
    ...fixtureAt('evals/unseen'),
    'evals/unseen/PROMPT.md': 'And again: what is here?\n',
  });
  const { exitCode } = await project.whetstone(['exp']);
  expect(exitCode).toBe(1);
  const { folder, unseen } = project.rows();
  expect(folder).toMatchObject({ outcome: 'passed', validation_status: 'passed' });
  expect(unseen).toMatchObject({ outcome: 'failed', failure_class: 'agent', validation_status: 'failed' });
  const patch = project.read('folder', 'changes.patch');
  expect(patch).toContain('sum.mjs');
  expect(patch).not.toContain('__niceeval__');
  // What a case is does not depend on the evals that are selected with it.
  const preview = await project.whetstone(['exp', 'folder', '--dry-run']);
  expect(preview.stdout).toContain('loop: 1 case, 1 of them reused');
});

test('an agent that works on a repository sees no eval and no experiment of it', async () => {
  const project = makeEvals({
    ...PROJECT,
    'evals/look.eval.ts': LOOK,
    'readme.md': 'A project.\n',
    '.gitignore': '.whetstone/\ntmp/\n',
    'whetstone.config.ts':
      "export default { repo: { path: '.' }, gateway: { mode: 'script', script: 'model.yaml' } };\n",
    'model.yaml':
      "name: m\ndefault:\n  - calls: [{ tool: shell, command: 'find . -type f > seen.txt' }]\n  - text: Done.\n",
  });
  const commit = 'git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm first';
  execFileSync('sh', ['-c', commit], { cwd: project.root });
  expect(await project.whetstone(['exp'])).toMatchObject({ exitCode: 0 });
  expect(project.rows().look).toMatchObject({ outcome: 'passed', touched_paths: ['seen.txt'] });
});

test('an experiment prepares the environment once for all its cases, also where a fixture would install', async () => {
  const eval_ = (name: string) => `
import { defineEval } from 'whetstone';
export default defineEval({
  fixture: './start',
  async test(t) {
    await t.send('Look for what is installed: ${name}.');
    t.fileChanged('seen.txt');
    await t.scriptPassed('check').orStop();
  },
});
`;
  const manifest = JSON.stringify({
    dependencies: { 'no-such-package-of-ours': '1' },
    scripts: { check: 'grep -q once node_modules/installed && test -f seen.txt' },
  });
  const project = makeEvals({
    ...PROJECT,
    'whetstone.config.ts': `
import { defineConfig } from 'whetstone';
export default defineConfig({
  gateway: { mode: 'script', script: 'model.yaml' },
  environment: { prepare: ['mkdir node_modules', 'echo once >> node_modules/installed'] },
});
`,
    'model.yaml':
      "name: m\ndefault:\n  - calls: [{ tool: shell, command: 'cat node_modules/installed > seen.txt' }]\n  - text: Done.\n",
    ...Object.fromEntries(['a', 'b'].map((name) => [`evals/${name}/${name}.eval.ts`, eval_(name)])),
    ...Object.fromEntries(['a', 'b'].map((name) => [`evals/${name}/start/package.json`, manifest])),
  });
  const cache = { XDG_CACHE_HOME: `${project.root}/cache` };
  const preview = async () => (await project.whetstone(['exp', '--dry-run', '--rerun', 'all'], cache)).stdout;
  const commands = 'mkdir node_modules && echo once >> node_modules/installed';
  expect(await preview()).toContain(`  prepare ${commands}: 1 environment to make\n`);
  const { exitCode, stderr } = await project.whetstone(['exp'], cache);
  expect(exitCode, stderr).toBe(0);
  expect(stderr.match(/Preparing the environment/g)).toHaveLength(1);
  expect(Object.values(project.rows())).toMatchObject([
    { outcome: 'passed', touched_paths: ['seen.txt'] },
    { outcome: 'passed', touched_paths: ['seen.txt'] },
  ]);
  expect(await preview()).toContain(`  prepare ${commands}: 1 from the cache (1 MB) unless `);
  const again = JSON.parse((await project.whetstone(['exp', '--dry-run', '--json'], cache)).stdout);
  expect(again.experiments).toMatchObject([{ environment: null }]);
});

const SUM_EVAL = (more: string) => `
import { defineEval, includes } from 'whetstone';
export default defineEval({
  fixture: './start',
  async test(t) {
    await t.send('Write sum.');
    t.testsPassed();
    ${more}
  },
});
`;

test('stored files are judged anew by changed code and changed hidden tests, without the agent', async () => {
  const project = makeEvals({
    ...PROJECT,
    ...fixtureAt('evals/sum/start'),
    'evals/sum/sum.eval.ts': SUM_EVAL(''),
    ...fixtureAt('evals/folder'),
    'evals/folder/PROMPT.md': 'Write sum.\n',
  });
  expect(await project.whetstone(['exp'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('2 passed'),
  });
  const before = project.rows();
  const product = SUM_TESTS.replace('sum(1, 2), 3', 'sum(3, 4), 12');
  // An agent that cannot answer any more.
  project.write({ 'model.yaml': 'name: model\nrules:\n  - steps: []\n' });
  project.write({
    'evals/sum/sum.eval.ts': SUM_EVAL(`
    t.fileChanged('sum.mjs', { after: includes('a + b') });
    t.check((await t.sandbox.diff.files()).find(({ path }) => path === 'old.txt').before(), includes('old'));
    t.scriptPassed('good');`),
  });
  const same = await project.whetstone(['rescore', 'latest', '--json']);
  expect(JSON.parse(same.stdout)).toMatchObject({ rescored: 2, left_out: 0, changed: [] });
  const { 'sum/sum': sum } = project.rows();
  expect(sum?.assertions?.map(({ name, status }) => [name.split('(')[0], status])).toEqual([
    ['testsPassed', 'passed'],
    ['fileChanged', 'passed'],
    ['check', 'passed'],
    ['scriptPassed', 'passed'],
  ]);
  // Only the script had no result yet.
  expect(sum?.validation_results.map(({ stdout_path }) => stdout_path)).toEqual([
    'check-1/validation-0.stdout.log',
    'check-2/validation-0.stdout.log',
  ]);
  expect(project.read('sum/sum', 'check-2/validation-0.stdout.log')).toBe('');

  // Judged twice, checks with a stored result run in clean rooms as well: two of the eval, and two of the folder.
  await project.whetstone(['rescore', 'latest', '--repeat', '2']);
  for (const id of ['sum/sum', 'folder'])
    expect(project.rows()[id]?.verifications).toEqual({ runs: 2, passed: 2, broken: 0 });
  expect(project.rows()['sum/sum']?.validation_results).toHaveLength(4);

  project.write({ 'evals/sum/start/EVAL.mjs': product, 'evals/folder/EVAL.mjs': product });
  const { stdout } = await project.whetstone(['rescore', before.folder?.run_id ?? '', '--json']);
  const { changed } = JSON.parse(stdout);
  expect(changed).toMatchObject([
    { case_id: before['sum/sum']?.case_id, before: 'passed', after: 'failed' },
    { case_id: before.folder?.case_id, before: 'passed', after: 'failed' },
  ]);
  const after = project.rows();
  expect(after.folder).toMatchObject({
    validation_status: 'failed',
    total_tokens: before.folder?.total_tokens,
  });
  // As Node 20 and as Node 24 print it.
  expect(project.read('sum/sum', 'check-2/validation-0.stdout.log')).toMatch(/(not ok 1 -|✖) sums/);
  // The new result is one of the new tests, and stays when it is judged once more.
  const again = await project.whetstone(['rescore', 'latest', '--eval', 'evals/sum/sum.eval.ts', '--json']);
  expect(JSON.parse(again.stdout)).toMatchObject({ rescored: 1, changed: [] });
  expect(project.rows()['sum/sum']?.validation_results).toHaveLength(3);
  // Where it is not known any more what the agent started with, nothing is guessed.
  project.write({
    'evals/sum/start/EVAL.mjs': `${SUM_TESTS}\n// Others once more.\n`,
    'experiments/loop.ts': PROJECT['experiments/loop.ts'].replace('} });', '}, flags: { other: 1 } });'),
  });
  // A process of its own: the others have the experiment loaded.
  const bin = join(import.meta.dirname, '../../bin/whetstone.js');
  const args = ['rescore', before.folder?.run_id ?? '', '--eval', 'evals/sum/sum.eval.ts'];
  execFileSync(process.execPath, [bin, ...args], { cwd: project.root });
  expect(project.rows()['sum/sum']).toMatchObject({
    outcome: 'error',
    failure_class: 'verifier',
    evidence: expect.stringContaining('the variant baseline is not the one of the stored run'),
  });
});
