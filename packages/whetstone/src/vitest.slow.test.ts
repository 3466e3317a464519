import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type EvalProject, makeEvals, removeEvals } from './cli/__fixtures__/eval-project.ts';
import { evalFile, experiment } from './cli/__fixtures__/greeter.ts';
import { runDirectories } from './cli/__fixtures__/project.ts';

afterAll(removeEvals);

const REPOSITORY = join(import.meta.dirname, '../../..');

type Assertion = { fullName: string; status: string; failureMessages: string[] };

/** Runs Vitest as a user does. */
async function runVitest(
  project: EvalProject,
  ...args: string[]
): Promise<{ tests: Assertion[]; output: string }> {
  const report = join(project.root, 'report.json');
  const program = join(REPOSITORY, 'node_modules/vitest/vitest.mjs');
  const options = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args];
  const { NODE_COMPILE_CACHE = '', PATH } = process.env;
  const env = {
    PATH,
    NO_COLOR: '1',
    HOME: project.root,
    TMPDIR: join(project.root, 'tmp'),
    NODE_COMPILE_CACHE,
  };
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [program, ...options], { cwd: project.root, env }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  return {
    tests: testResults.flatMap((file: { assertionResults: Assertion[] }) => file.assertionResults),
    output,
  };
}

test('evals are tests of Vitest, and none of its limits ends a long judge', async () => {
  const project = makeEvals({
    'package.json': '{ "type": "module" }\n',
    'vitest.config.ts': 'export default { test: { testTimeout: 100, hookTimeout: 100 } };\n',
    'evals.test.ts':
      "import { evalTests } from 'whetstone/vitest';\nawait evalTests({ names: ['base', 'files'] });\n",
    'experiments/base.ts': experiment(
      "runs: 2, evals: ['bad', 'judged'], variants: { plain: {}, warm: { flags: { tone: 'warmly' } } }",
    ),
    'experiments/files.ts': FILES,
    'evals/work.eval.ts':
      "import { defineEval } from 'whetstone';\nexport default defineEval({ fixture: './fixture', test: (t) => t.send('Hello.') });\n",
    'evals/fixture/readme.md': 'Hello.\n',
    'evals/judged.eval.ts': evalFile(`    await t.send('Ada');
    // A judge that does not let its process breathe.
    for (const end = Date.now() + 500; Date.now() < end; );`),
    'evals/bad.eval.ts': evalFile(
      "    await t.send('Ada');\n    t.calledTool('sing');\n    t.calledTool('greet').label('\\u001b[8mgreet');",
    ),
  });
  mkdirSync(join(project.root, 'node_modules'));
  for (const [name, target] of [
    ['whetstone', 'packages/whetstone'],
    ['vitest', 'node_modules/vitest'],
  ] as const) {
    symlinkSync(join(REPOSITORY, target), join(project.root, 'node_modules', name));
  }
  const { tests, output } = await runVitest(project);
  expect(tests.map(({ fullName, status }) => [fullName, status])).toEqual([
    ['base bad [plain]', 'failed'],
    ['base bad [warm]', 'failed'],
    ['base judged [plain]', 'passed'],
    ['base judged [warm]', 'passed'],
    ['files work', 'passed'],
  ]);
  const [message] = tests[0]?.failureMessages ?? [];
  expect(message).toContain('2 of 2 attempts did not pass; the first: agent: calledTool("sing")');
  expect(message).toContain('passed: greet (evals/bad.eval.ts:6)');
  expect(output).toMatch(/evals\/bad\.eval\.ts:5:7/);
  expect(output).toContain('❯ evals/bad.eval.ts:5');

  // Workspaces and isolation are those of the command line.
  const isolation = () => {
    const manifest = join(
      runDirectories(join(project.root, '.whetstone/runs')).at(-1) ?? '',
      'manifest.json',
    );
    return JSON.parse(readFileSync(manifest, 'utf8')).isolation;
  };
  const underVitest = isolation();
  await project.whetstone(['exp', 'files', '--rerun', 'all']);
  expect(underVitest).toEqual(isolation());

  // The tests that are selected decide what runs.
  project.write({ 'evals/judged.eval.ts': evalFile("    await t.send('Bob');") });
  const again = await runVitest(project, '-t', 'bad');
  expect(again.tests.map(({ status }) => status)).toEqual([
    'failed',
    'failed',
    'skipped',
    'skipped',
    'skipped',
  ]);
  expect(again.tests[0]?.failureMessages[0]).toMatch(/reused from run \d/);
  expect(Object.keys(project.rows())).toEqual(['bad']);

  project.write({ 'evals/bad.eval.ts': 'export default {};\n' });
  const broken = await runVitest(project);
  expect(broken.output).toMatch(/evals\/bad\.eval\.ts +TypeError: the default export is not an eval/);
});

const FILES = `
import { defineExperiment } from 'whetstone';
import { defineSandboxAgent } from 'whetstone/adapter';
const coder = defineSandboxAgent({
  name: 'coder',
  send: async () => ({ events: [{ type: 'message', role: 'assistant', text: 'Done.' }], status: 'completed' }),
});
export default defineExperiment({ agent: coder, evals: ['work'] });
`;
