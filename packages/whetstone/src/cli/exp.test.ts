import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { TreeSpec } from '../workspace/__fixtures__/test-repo.ts';
import { type EvalProject, makeEvals, removeEvals } from './__fixtures__/eval-project.ts';
import { evalFile, experiment } from './__fixtures__/greeter.ts';

afterAll(removeEvals);

const makeProject = (files: TreeSpec): EvalProject =>
  makeEvals({ 'experiments/base.ts': experiment(), ...files });

test('an eval drives an agent through several turns, and its assertions are in the row and the files', async () => {
  const project = makeProject({
    'experiments/base.ts': experiment("flags: { tone: 'warmly' }, model: 'model-1'"),
    'evals/words.ts': `
import { getCompileCacheDir } from 'node:module';
export const name: string = 'Ada';
export const compiledOnce = getCompileCacheDir() !== undefined;
`,
    'evals/talk/hello.eval.ts': `
import { defineEval, includes } from 'whetstone';
import { compiledOnce, name } from '../words.js';

export default defineEval({
  description: 'Greets by name',
  requires: { conversation: true, toolObservability: true },
  async test(t) {
    const turn = await t.send(name);
    turn.outputEquals({ whom: 'Ada' });
    await t.send('Bob');
    t.group('Greeting', () => {
      t.calledTool('greet', { count: 2 });
      t.check(t.reply, includes('Hello again Bob warmly model-1'));
    });
    const other = t.newSession();
    const third = await other.send('Eve');
    third.check(third.reply, includes('Hello Eve'));
    other.calledTool('greet', { count: 1 });
    t.maxTokens(100).soft();
    t.within(3).turns.soft();
    t.log([t.flags.tone, t.model, t.o11y.totalToolCalls, t.usage?.inputTokens, compiledOnce].join(' '));
  },
});
`,
  });
  const { exitCode, stderr } = await project.whetstone(['exp']);
  expect(stderr).toContain('passed');
  expect(exitCode).toBe(0);
  const { 'talk/hello': row } = project.rows();
  expect(row).toMatchObject({
    outcome: 'passed',
    confidence: 'high',
    turns: 3,
    total_tokens: 15,
    agent_name: 'greeter',
  });
  expect(
    row?.assertions?.map(({ name, group, status, severity }) => [group, name, status, severity]),
  ).toMatchObject([
    [undefined, expect.stringContaining('outputEquals'), 'passed', 'gate'],
    ['Greeting', expect.stringContaining('calledTool("greet"'), 'passed', 'gate'],
    ['Greeting', expect.stringContaining('check'), 'passed', 'gate'],
    [undefined, expect.stringContaining('check'), 'passed', 'gate'],
    [undefined, expect.stringContaining('calledTool("greet"'), 'passed', 'gate'],
    [undefined, 'maxTokens(100)', 'passed', 'soft'],
    [undefined, 'within(3).turns', 'passed', 'soft'],
  ]);
  expect(row?.assertions?.[1]).toMatchObject({ at: { file: 'evals/talk/hello.eval.ts', line: 13 } });
  // The log of the adapter is an event too, so evidence counts lines of the file.
  const events = readEvents(project, 'talk/hello');
  const evidence = row?.assertions?.[4]?.evidence.events ?? [];
  expect(evidence.map((index) => events[index])).toMatchObject([
    { type: 'action.called', callId: '1#3', turn: 2 },
    { type: 'action.result' },
  ]);
  expect(project.read('talk/hello', 'eval.log')).toBe('warmly model-1 3 9 true\n');
  expect(project.read('talk/hello', 'prompt.md')).toBe(
    'Ada\n\n--- turn 2 ---\n\nBob\n\n--- turn 3, session 2 ---\n\nEve',
  );
  expect(JSON.parse(project.read('talk/hello', 'assertions.json'))).toHaveLength(7);
  const shown = await project.whetstone(['show', 'latest', 'talk']);
  expect(shown.stdout).toMatch(/Assertions\n +passed: .*outputEquals/);
});

const readEvents = (project: EvalProject, task: string) =>
  project
    .read(task, 'events.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('each way in which an eval can end is a row of its own, and none ends the run', async () => {
  const project = makeProject({
    'evals/failed.eval.ts': evalFile(
      "    await t.send('Ada');\n    t.notCalledTool('greet');\n    t.calledTool('sing');",
    ),
    'evals/agent.eval.ts': evalFile("    const turn = await t.send('fail');\n    turn.data.whom;"),
    'evals/waiting.eval.ts': evalFile("    await t.send('ask');\n    t.event('input.requested');"),
    'evals/throws.eval.ts': evalFile("    await t.send('Ada');\n    null.whom;"),
    'evals/later.eval.ts': evalFile(
      "    await t.send('Ada');\n    Promise.reject(new Error('nobody waits'));",
    ),
    'evals/exits.eval.ts': evalFile('    process.exit(7);'),
    'evals/hangs.eval.ts': evalFile(
      "    await t.send('Ada');\n    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);",
      '  timeoutMs: 200,\n',
    ),
    'evals/unknown.eval.ts': evalFile("    await t.send('Ada');\n    t.fileChanged('a.ts');"),
    'evals/silent.eval.ts': evalFile('    console.log(process.env.TEAM_KEY, process.env.FROM_FILE);'),
    '.env': 'FROM_FILE=secret\n',
  });
  const { exitCode, stdout } = await project.whetstone(['exp', '--jobs', '2', '--junit', 'out.xml'], {
    TEAM_KEY: 'secret',
  });
  expect(exitCode).toBe(1);
  expect(stdout).toContain('9 cases');
  const outcomes = Object.entries(project.rows()).map(
    ([task, { outcome, failure_class: kind, evidence }]) => [task, { outcome, kind, evidence }] as const,
  );
  expect(Object.fromEntries(outcomes)).toMatchObject({
    failed: {
      outcome: 'failed',
      kind: 'agent',
      evidence: expect.stringMatching(
        /^notCalledTool\("greet"\) \(evals\/failed\.eval\.ts:5\): .* \(and 1 more\)$/,
      ),
    },
    agent: { outcome: 'failed', kind: 'agent', evidence: expect.stringContaining('no voice') },
    waiting: { outcome: 'passed' },
    throws: {
      outcome: 'error',
      kind: 'verifier',
      evidence: expect.stringMatching(/^the eval's code failed \(evals\/throws\.eval\.ts:5\): TypeError: /),
    },
    later: { outcome: 'error', kind: 'verifier', evidence: expect.stringContaining('nobody waits') },
    exits: { outcome: 'error', kind: 'verifier', evidence: expect.stringContaining('exit code 7') },
    hangs: { outcome: 'error', kind: 'verifier', evidence: expect.stringContaining('did not end') },
    unknown: {
      outcome: 'error',
      kind: 'verifier',
      evidence: expect.stringMatching(/^fileChanged\("a\.ts"\) .*could not be evaluated/),
    },
    silent: { outcome: 'passed', kind: null },
  });
  expect(project.rows().silent?.confidence).toBe('low');
  expect(project.read('silent', 'eval.log')).toBe('undefined undefined\n');
  const junit = readFileSync(join(project.root, 'out.xml'), 'utf8');
  expect(junit).toContain('tests="9" failures="2" errors="5"');
  expect(junit).toMatch(/failed: calledTool\(&quot;sing&quot;\) \(evals\/failed\.eval\.ts:6\): /);
  expect(junit).toMatch(/failed: notCalledTool\(&quot;greet&quot;\).* \[events 1, 2\]/);
  // The report has every assertion that did not pass.
  const report = project.read('failed', '../../report.md');
  expect(report.match(/ {2}- failed: .*(?:notCalledTool|calledTool).*failed\.eval\.ts:[56]/g)).toHaveLength(
    2,
  );
  // A case that passed has its assertions as well.
  expect(junit).toMatch(
    /name="waiting #1"[^/]*>\s*<system-out>passed: event\(&quot;input\.requested&quot;\) \(evals\/waiting\.eval\.ts:5\): .* \[events 1\]/,
  );
});

test('ids come from paths, and a file may define one eval, a list or a record', async () => {
  const project = makeProject({
    'evals/one.eval.ts': evalFile("    await t.send('Ada');", "  tags: ['quick'],\n"),
    'evals/more/list.eval.ts':
      "import { defineEval } from 'whetstone';\nconst test = (t) => t.send('Ada');\nexport default [defineEval({ test }), defineEval({ test })];\n",
    'evals/more/named.eval.ts':
      "import { defineEval } from 'whetstone';\nconst test = (t) => t.send('Ada');\nexport default { ada: defineEval({ test }), bob: defineEval({ test }) };\n",
  });
  const listed = JSON.parse((await project.whetstone(['list', '--json'])).stdout);
  expect(listed.evals.map(({ id }: { id: string }) => id)).toEqual([
    'more/list/1',
    'more/list/2',
    'more/named/ada',
    'more/named/bob',
    'one',
  ]);
  expect(listed.experiments).toMatchObject([{ id: 'base', agent: 'greeter', runs: 1, evals: { length: 5 } }]);
  const { stdout } = await project.whetstone(['list']);
  expect(stdout).toContain('  base  greeter, 5 evals × 1 attempt\n');
  const run = async (...args: string[]) => {
    const { stdout } = await project.whetstone(['exp', '--dry-run', '--json', ...args]);
    return JSON.parse(stdout).experiments[0].cases.length;
  };
  expect(await run('more/list', 'one')).toBe(3);
  expect(await run('base', '--tag', 'quick', '--runs', '3')).toBe(3);
  expect(await project.whetstone(['exp', 'mroe'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('There is no eval or experiment mroe'),
  });
  expect((await project.whetstone(['exp', 'bas'])).stderr).toContain('base');
});

test('a case runs only once for the same work, and each run says which results are old', async () => {
  const project = makeProject({
    'evals/good.eval.ts': evalFile("    await t.send('Ada');\n    t.calledTool('greet');"),
    'evals/bad.eval.ts': evalFile("    await t.send('Ada');\n    t.calledTool('sing');"),
    'evals/odd.eval.ts': evalFile("    throw new Error('odd');"),
  });
  const exp = async (...args: string[]) => {
    const { stdout } = await project.whetstone(['exp', '--json', ...args]);
    return JSON.parse(stdout);
  };
  const why = async (...args: string[]) => {
    const { experiments } = await exp('--dry-run', ...args);
    return Object.fromEntries(
      experiments[0].cases.map(({ case_id: id, runs_because: reason = 'reused' }: Record<string, string>) => [
        id?.split('__')[0],
        reason,
      ]),
    );
  };
  expect((await exp()).runs[0].cases).toMatchObject({ passed: 1, failed: 1, error: 1 });
  const first = project.rows().good;
  expect(await why()).toEqual({
    good: 'reused',
    bad: 'reused',
    odd: 'its last result was an error (verifier)',
  });
  expect(await why('--rerun', 'failed')).toMatchObject({
    good: 'reused',
    bad: 'its last result was not passed',
  });
  expect(await why('--rerun', 'all')).toMatchObject({ good: 'every case was to run again' });

  const [again] = (await exp()).runs;
  expect(again.cases).toMatchObject({ passed: 1, failed: 1, error: 1, reused: 2 });
  expect(again.caveats.join('\n')).toContain('2 of 3 cases did not run');
  const { stderr } = await project.whetstone(['exp']);
  expect(stderr).toContain('3 cases, 2 of them reused → ');
  const { good } = project.rows();
  expect(good?.reused_from).toEqual({ run_id: first?.run_id, case_id: first?.case_id });
  expect(good?.assertions).toEqual(first?.assertions);
  expect(project.read('good', 'prompt.md')).toBe('Ada');

  project.write({ 'evals/good.eval.ts': evalFile("    await t.send('Ada!');\n    t.calledTool('greet');") });
  expect(await why()).toMatchObject({ good: 'the eval changed', bad: 'reused' });
  project.write({ 'package-lock.json': '{}' });
  expect(await why()).toMatchObject({ bad: 'the installed packages changed' });
});

test('an error in a file of the project is named with its line', async () => {
  const project = makeProject({
    'evals/one.eval.ts':
      "import { defineEval } from 'whetstone';\n\nexport default defineEval({ description: 'no test' });\n",
    'whetstone.config.ts':
      "import { defineConfig } from 'whetstone';\n\nexport default defineConfig({\n  seed: 7,\n  gateway: {\n    mode: 'sript',\n  },\n});\n",
  });
  const config = await project.whetstone(['exp']);
  expect(config.exitCode).toBe(2);
  expect(config.stderr).toMatch(/whetstone\.config\.ts:6:11\s+gateway\.mode/);
  rmSync(join(project.root, 'whetstone.config.ts'));
  const found = await project.whetstone(['exp']);
  expect(found).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('one.eval.ts') });
  expect(found.stderr).toContain('the definition description has no function `test`');
  project.write({ 'evals/one.eval.ts': 'export default {\n  a: ,\n};\n' });
  expect((await project.whetstone(['exp'])).stderr).toMatch(/one\.eval\.ts:2:6\s+SyntaxError: /);
  project.write({ 'evals/one.eval.ts': "import './words.ts';\n", 'evals/words.ts': 'const a = ;\n' });
  expect((await project.whetstone(['exp'])).stderr).toMatch(/SyntaxError: .*evals\/words\.ts:1:11\)/);
});

test('stored cases are judged anew with changed evals, without the agent', async () => {
  const old = evalFile("    await t.send('Ada');\n    t.calledTool('sing');");
  const project = makeProject({
    'evals/wrong.eval.ts': old,
    'evals/same.eval.ts': evalFile("    await t.send('Ada');\n    t.calledTool('greet').score(4);"),
    'evals/moved.eval.ts': evalFile("    await t.send('Ada');\n    t.calledTool('greet');"),
    'evals/broken.eval.ts': evalFile("    await t.send('fail');\n    t.calledTool('greet');"),
  });
  expect(await project.whetstone(['exp'])).toMatchObject({ exitCode: 1 });
  const before = project.rows();
  const fixed = old.replace('sing', 'greet');
  project.write({
    'evals/wrong.eval.ts': fixed,
    'evals/moved.eval.ts': evalFile("    await t.send('Bob');\n    t.calledTool('greet');"),
    'evals/broken.eval.ts': evalFile("    await t.send('fail');\n    t.event('error');"),
    // An agent that would do something else now.
    'experiments/base.ts': experiment().replaceAll("'greet'", "'hum'"),
  });
  const { stdout, exitCode } = await project.whetstone(['rescore', 'latest', '--json']);
  expect(exitCode).toBe(0);
  const { changed, summary, rescored } = JSON.parse(stdout);
  expect(rescored).toBe(4);
  expect(changed).toMatchObject([
    { before: 'passed', after: 'error', evidence: expect.stringContaining('another message') },
    { before: 'failed', after: 'passed', evidence: null },
  ]);
  expect(summary).toMatchObject({ cases: { passed: 2, failed: 1, error: 1, reused: 4 } });
  const after = project.rows();
  expect(after.wrong).toMatchObject({ outcome: 'passed', failure_class: null, total_tokens: 5 });
  expect(after.same).toMatchObject({ score: 4, max_score: 4, reused_from: { run_id: before.same?.run_id } });
  // The agent itself failed, whatever the eval asserts.
  expect(after.broken).toMatchObject({ outcome: 'failed', evidence: before.broken?.evidence });
  expect(JSON.parse(project.read('wrong', 'assertions.json'))).toMatchObject([{ status: 'passed' }]);

  const labelled = old.replace("('sing')", "('sing').label('\\u001b[31msing')");
  project.write({ 'changed/wrong.eval.ts': labelled });
  const one = await project.whetstone(['rescore', 'latest', '--eval', 'changed/wrong.eval.ts']);
  expect(one.stdout).toMatch(
    /1 case judged anew, 1 with another outcome\n3 cases left out: .*\n {2}passed → failed {2}wrong__/,
  );
  expect(one.stdout).toContain('sing');
  expect(one.stdout).not.toContain('\u001b[31m');
});

test('stored cases are judged several times, and the report says where the judgements disagree', async () => {
  const flaky = `
    await t.send('Ada');
    const counter = new URL('./count', import.meta.url);
    const count = existsSync(counter) ? Number(readFileSync(counter, 'utf8')) : 0;
    writeFileSync(counter, String(count + 1));
    t.check(count % 3 === 1, equals(false));`;
  const project = makeProject({
    'evals/flaky.eval.ts': `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { defineEval, equals } from 'whetstone';
export default defineEval({ async test(t) {${flaky} } });`,
    'evals/steady.eval.ts': evalFile("    await t.send('Ada');\n    t.calledTool('greet');"),
    'evals/broken.eval.ts': evalFile("    await t.send('fail');\n    t.calledTool('greet');"),
  });
  await project.whetstone(['exp']);
  rmSync(join(project.root, 'evals/count'));
  const { stdout, stderr } = await project.whetstone(['rescore', 'latest', '--repeat', '3']);
  expect(stdout, stderr).toContain('3 cases judged anew, each 3 times, 0 with another outcome');
  expect(stdout).toContain('Verifications disagreed in 1 of 2 trees\n  67 %  flaky: 1 of 1 tree');
  const rows = project.rows();
  expect(rows.flaky).toMatchObject({ outcome: 'passed', verifications: { runs: 3, passed: 2, broken: 0 } });
  expect(rows.steady?.verifications).toEqual({ runs: 3, passed: 3, broken: 0 });
  // What the agent failed at is not judged, however often.
  expect(rows.broken?.verifications).toBeUndefined();
  await project.whetstone(['rescore', 'latest']);
  expect(project.rows().flaky?.verifications).toBeUndefined();
});
