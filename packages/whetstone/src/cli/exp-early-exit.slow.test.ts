import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeEvals, removeEvals } from './__fixtures__/eval-project.ts';
import { evalFile, experiment } from './__fixtures__/greeter.ts';

afterAll(removeEvals);

test('after a pass the other attempts do not run, and every output says so', async () => {
  const project = makeEvals({
    'experiments/base.ts': experiment('runs: 3, earlyExit: true'),
    'experiments/graded.ts': experiment("runs: 3, metric: 'score'"),
    'evals/good.eval.ts': evalFile("    await t.send('Ada');\n    t.calledTool('greet').score(2);"),
    'evals/bad.eval.ts': evalFile("    await t.send('Ada');\n    t.notCalledTool('greet').soft().score(2);"),
    'evals/wrong.eval.ts': evalFile("    await t.send('Ada');\n    t.notCalledTool('greet');"),
  });
  const first = await project.whetstone(['exp', 'base', 'good', 'wrong', '--junit', 'out.xml', '--json']);
  expect(first.exitCode).toBe(1);
  const [summary] = JSON.parse(first.stdout).runs;
  expect(summary.cases).toMatchObject({ planned: 6, passed: 1, failed: 3, not_run: 2, missing: 0 });
  expect(summary.arms).toMatchObject([
    { primary: { value: 0.5 }, pass_at_k: { k: 3, any: 0.5, all: null }, pass_rate: null },
  ]);
  expect(first.stderr).toMatch(/\[\d\/6\] not run +greeter · good · baseline · \d +another trial has passed/);
  expect(readFileSync(join(project.root, 'out.xml'), 'utf8')).toMatch(
    /tests="6" failures="3" errors="0" skipped="2"[\s\S]*<skipped message="not run: another trial had passed"\/>/,
  );
  const preview = await project.whetstone(['exp', 'base', 'good', '--dry-run']);
  expect(preview.stdout.match(/^ {2}reused .*$/gm)).toHaveLength(1);
  expect(preview.stdout.match(/^ {2}not run .*: trial \d passed in run .*$/gm)).toHaveLength(2);
  // One pass of each eval is enough, also where it is an old one; `--no-early-exit` runs the rest.
  const again = await project.whetstone(['exp', 'base', 'good']);
  expect([again.exitCode, again.stdout]).toEqual([
    0,
    expect.stringContaining('2 not run after a pass (1 reused)'),
  ]);
  const whole = await project.whetstone(['exp', 'base', 'good', '--no-early-exit', '--json']);
  expect(JSON.parse(whole.stdout).runs[0]).toMatchObject({
    cases: { passed: 3, reused: 1, not_run: 0 },
    metric: { kind: 'pass_rate' },
  });
  const graded = await project.whetstone(['exp', 'graded', 'good', 'bad', '--json']);
  expect(JSON.parse(graded.stdout).runs[0]).toMatchObject({
    metric: { kind: 'score' },
    arms: [{ primary: { value: 0.5, known: 6 }, pass_rate: 1 }],
  });
  const refused = await project.whetstone(['exp', 'graded', '--early-exit']);
  expect(refused.stderr).toContain('there would be no comparison by score');
});
