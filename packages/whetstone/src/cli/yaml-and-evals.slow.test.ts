import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { loadProject } from '../config/load-project.ts';
import { rootSchema, taskSchema } from '../config/schema.ts';
import { readFixture } from '../eval/fixture.ts';
import { loadExperiment, planExperiment } from '../eval/plan-experiment.ts';
import { describeFile } from '../eval/worker/load-evals.ts';
import type { CaseRow } from '../record/row.ts';
import { commitAll, makeRepo } from '../workspace/__fixtures__/test-repo.ts';
import { type EvalProject, makeEvals, removeEvals } from './__fixtures__/eval-project.ts';
import { readLines, runDirectories } from './__fixtures__/project.ts';

/** The table of docs/evals.md, by its first column. */
const page = readFileSync(join(import.meta.dirname, '../../../../docs/evals.md'), 'utf8');
const [, section = ''] = page.split('## YAML and TypeScript');
const table = (section.split('\n## ')[0] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(/(?<!\\)\|/)[1]?.trim() ?? '')
  .slice(2);

/** Writes what it was asked for; in the variant `wrong` something else. */
const AGENT = `
import { defineSandboxAgent } from ${JSON.stringify(import.meta.resolve('@whetstone/agents'))};
export const mine = defineSandboxAgent({
  name: 'mine',
  capabilities: { conversation: true, structuredOutput: true },
  async send({ text, outputSchema }, { sandbox, session, model }) {
    session.id ??= 'session';
    const { stdout } = await sandbox.runShell('cat WRONG.md 2>/dev/null; true');
    const isWrong = stdout !== '';
    if (text.includes('Write sum.'))
      await sandbox.runShell(isWrong ? 'echo wrong > sum.mjs; rm keep.txt' : 'echo "export const sum = (a, b) => a + b;" > sum.mjs; rm old.txt');
    return {
      status: 'completed',
      data: outputSchema && { total: isWrong ? 'three' : 3 },
      events: [{ type: 'message', role: 'assistant', text: (text.includes('Write sum.') ? 'Wrote it' : 'The total') + ' by ' + model }],
    };
  },
});
export default mine;
`;

const FILES = {
  'package.json': JSON.stringify({ scripts: { test: 'node sum.mjs' } }),
  'old.txt': 'old\n',
  'keep.txt': 'keep\n',
};
const HIDDEN = `import assert from 'node:assert';
import test from 'node:test';
import { sum } from '../sum.mjs';
test('sums', () => assert.equal(sum(1, 2), 3));
`;
const SCHEMA = {
  type: 'object',
  properties: { total: { type: 'number' } },
  required: ['total'],
  additionalProperties: false,
};
const AGENT_OPTIONS = { kind: 'loop', profile: 'anthropic', model: 'claude-sonnet-4-5' };
const SHARED = {
  environment: { prepare: ['npm ci'] },
  judge: { model: 'anthropic/claude-opus-4-8', votes: 3, budget: { usd: 2 } },
  sandbox: 'process',
  seed: '7',
  output_dir: 'out',
};
const VARIANTS = {
  baseline: {},
  wrong: { overlays: [{ source: 'WRONG.md', target: 'WRONG.md' }] },
};
const GATEWAY = { mode: 'script', script: 'model.yaml' };
const MODEL = 'name: m\nrules: [{ steps: [{ text: Done. }] }]\n';

const exported = (value: object): string => `export default ${JSON.stringify(value)};\n`;
const code = (name: string, keys: string): string =>
  `import { defineExperiment } from 'whetstone';\nimport ${name} from '../agent.ts';\nexport default defineExperiment({ agent: ${name}, ${keys} });\n`;

const BARE = { repo: { path: '.' }, agents: { loop: AGENT_OPTIONS }, variants: { baseline: {} } };

let project: EvalProject;
let planned: { yaml: Config; code: Config };
let rows: { yaml: CaseRow[]; code: CaseRow[] };

beforeAll(async () => {
  const repo = makeRepo(FILES);
  const first = commitAll(repo, { 'later.txt': 'A later commit.\n' });
  project = makeEvals({
    'agent.ts': AGENT,
    'WRONG.md': 'Do it wrong.\n',
    'model.yaml': MODEL,
    'schema.json': JSON.stringify(SCHEMA),
    'hidden/test/sum.test.mjs': HIDDEN,
    // What both sides only say.
    'stated.yaml': JSON.stringify({
      ...SHARED,
      repo: { path: repo },
      metric: 'cost',
      equivalence: '10%',
      baseline: 'baseline',
      agents: { loop: { ...AGENT_OPTIONS, timeout_seconds: 90 } },
      tasks: 'stated-tasks.yaml',
      variants: VARIANTS,
      gateway: { ...GATEWAY, run_budget: { usd: 5 } },
    }),
    'stated-tasks.yaml': JSON.stringify({
      tasks: [{ id: 'sum', title: 'Sums', prompt: 'Write sum.', timeout_seconds: 30, repo_ref: first }],
    }),
    'stated/whetstone.config.ts': exported({
      ...SHARED,
      repo: { path: repo },
      gateway: { ...GATEWAY, script: '../model.yaml' },
    }),
    'stated/experiments/loop.ts': exported({
      agent: { kind: 'loop', profile: 'anthropic' },
      ...{ model: 'claude-sonnet-4-5', timeoutMs: 90_000, budget: 5, metric: 'cost', equivalence: '10%' },
      flags: { fast: true },
      variants: {
        ...VARIANTS,
        wrong: { overlays: [{ source: '../../WRONG.md', target: 'WRONG.md' }], flags: { fast: false } },
      },
    }),
    'stated/evals/sum.eval.ts': `export default { description: 'Sums', tags: ['easy'], timeoutMs: 30_000, test() {} };\n`,
    'stated/evals/fixture/package.json': JSON.stringify({ dependencies: { left: '1' } }),
    // What both sides do.
    'run.yaml': JSON.stringify({
      repo: { path: repo },
      agents: { mine: { kind: 'custom', module: './agent.ts', model: 'model-1' } },
      tasks: 'tasks.yaml',
      variants: VARIANTS,
      sandbox: 'process',
      output_dir: 'yaml-runs',
    }),
    'tasks.yaml': JSON.stringify({
      tasks: [
        {
          ...{
            id: 'sum',
            title: 'Sums',
            category: 'easy',
            prompt: 'Write sum.',
            follow_ups: ['And the total?'],
          },
          ...{ validation: { commands: ['npm test'] }, hidden_tests: 'hidden', output_schema: 'schema.json' },
          hard_evaluation: { enabled: true, max_changed_files: 2, forbidden_paths: ['keep.txt'] },
          expected_outcome: { files: [{ path: 'sum.mjs', must_change: true }] },
        },
        { id: 'other', category: 'hard', prompt: 'Write nothing.' },
      ],
    }),
    'experiments/base.ts': code(
      'mine',
      `model: 'model-1', runs: 2, variants: ${JSON.stringify(VARIANTS).replace('WRONG.md', '../WRONG.md')}, sandbox: 'process'`,
    ),
    'evals/start/package.json': FILES['package.json'],
    'evals/start/old.txt': FILES['old.txt'],
    'evals/start/keep.txt': FILES['keep.txt'],
    'evals/start/test/sum.test.mjs': HIDDEN,
    'evals/sum.eval.ts': `
import { defineEval } from 'whetstone';
import { z } from ${JSON.stringify(import.meta.resolve('zod'))};
export default defineEval({
  description: 'Sums', tags: ['easy'], fixture: './start',
  async test(t) {
    await t.send('Write sum.');
    const turn = await t.send('And the total?', { outputSchema: ${JSON.stringify(SCHEMA)} });
    turn.outputMatches(z.strictObject({ total: z.number() }));
    if (turn.reply.includes('total')) t.fileDeleted('old.txt');
    t.fileChanged('sum.mjs');
    t.sandbox.diff.changedOnly(['sum.mjs', 'old.txt']);
    t.scriptPassed('test');
    t.testsPassed();
  },
});
`,
    'evals/other.eval.ts': `export default { tags: ['hard'], test() {} };\n`,
  });
  const { root } = project;
  planned = { yaml: (await loadConfig(join(root, 'stated.yaml'))).config, code: await statedPlan() };
  const runs = await Promise.all([
    project.whetstone(['run', '-c', 'run.yaml', '--trials', '2', '--category', 'easy']),
    project.whetstone(['exp', 'base', '--tag', 'easy']),
  ]);
  const latest = (folder: string) =>
    readLines<CaseRow>(
      join(runDirectories(join(root, folder)).at(-1) ?? JSON.stringify(runs), 'results.jsonl'),
    );
  rows = { yaml: latest('yaml-runs'), code: latest('.whetstone/runs') };
});
afterAll(removeEvals);

async function statedPlan(): Promise<Config> {
  const root = join(project.root, 'stated');
  const experiment = await loadExperiment({ id: 'loop', file: join(root, 'experiments/loop.ts') });
  const { evals } = await describeFile({ file: join(root, 'evals/sum.eval.ts'), id: 'sum' });
  const shared = await loadProject(root);
  return planExperiment(experiment, evals, {
    project: shared,
    repo: shared.repo as Config['repo'],
    fixtures: new Map(),
  });
}

/** All that the agents said, of one run. */
const eventsOf = (folder: string): string =>
  globSync('*/cases/*/events.jsonl', { cwd: join(project.root, folder) })
    .map((file) => readFileSync(join(project.root, folder, file), 'utf8'))
    .join('');

/** What both rows of a variant say. */
const both = <T>(variant: string, of: (row: CaseRow) => T): [yaml: T, code: T] => {
  const [yaml, evals] = [rows.yaml, rows.code].map((all) => all.find((row) => row.variant === variant));
  return [of(yaml as CaseRow), of(evals as CaseRow)];
};

const evidenceOf = ({ assertions = [] }: CaseRow): Record<string, string> =>
  Object.fromEntries(assertions.map(({ name, status }) => [/\w+(?=\()/.exec(name)?.[0], status]));

/** What one row of the table promises, by its first column. */
const PROMISES: Record<string, () => unknown> = {
  '`agents: { mine: { kind: loop, … } }`': () =>
    expect(planned.code.agents).toEqual([planned.yaml.agents[0]]),
  '`agents: { mine: { kind: custom, module: ./agent.ts } }`': () =>
    expect(both('baseline', ({ agent_name: name, outcome }) => ({ name, outcome }))).toEqual(
      Array(2).fill({ name: 'mine', outcome: 'passed' }),
    ),
  '`model` of an agent': () => {
    for (const folder of ['yaml-runs', '.whetstone/runs']) {
      expect(eventsOf(folder)).toContain('Wrote it by model-1');
    }
  },
  '`timeout_seconds` of an agent or of a task': () => {
    const limits = ({ agents: [agent], tasks: [task] }: Config) => [
      agent?.timeoutSeconds,
      task?.timeoutSeconds,
    ];
    expect(limits(planned.code)).toEqual(limits(planned.yaml));
    expect(limits(planned.code)).toEqual([90, 30]);
  },
  '`repo`, `seed`, `output_dir`': () => {
    const { repo, seed } = planned.yaml;
    expect(planned.code).toMatchObject({ repo, seed });
    expect(planned.code.outputDir).toBe(join(project.root, 'stated/out'));
    expect(planned.yaml.outputDir).toBe(join(project.root, 'out'));
  },
  '`variants: { short: { instructions: … } }`': () =>
    expect(planned.code.variants.map(({ flags: _, ...variant }) => variant)).toEqual(planned.yaml.variants),
  '`baseline: without`': () => expect(planned.code.baseline).toBe(planned.yaml.baseline),
  '`metric`, `equivalence`': () => {
    const { metric, equivalence } = planned.yaml;
    expect(planned.code).toMatchObject({ metric, equivalence });
    expect(metric).toBe('cost');
  },
  '– (settings that only code reads)': () =>
    expect(planned.code.variants.map(({ flags }) => flags)).toEqual([{ fast: true }, { fast: false }]),
  'a task with `id`, `title` and `prompt`': () => {
    const { id, title } = planned.yaml.tasks[0] ?? {};
    expect(planned.code.tasks).toMatchObject([{ id, title }]);
    expect(eventsOf('yaml-runs')).toContain('Wrote it');
  },
  '`follow_ups`': () => expect(both('baseline', ({ turns }) => turns)).toEqual([2, 2]),
  '`repo_ref`, `overlays` of a task': () =>
    // Both started from files of their own, of which each deleted one.
    expect(both('baseline', ({ deletions, touched_paths: paths }) => ({ deletions, paths }))).toEqual(
      Array(2).fill({ deletions: 1, paths: ['old.txt', 'sum.mjs'] }),
    ),
  '`setup`, `setup_env`, `setup_timeout_seconds`': async () =>
    expect((await readFixture(join(project.root, 'stated/evals/fixture'), project.root)).setup).toMatchObject(
      [{ argv: ['npm', 'install', '--no-audit', '--no-fund'] }],
    ),
  '`environment`': () => expect(planned.code.environment).toEqual(planned.yaml.environment),
  '`evaluation` and `validation: { commands: [npm test] }`': () => {
    expect(both('baseline', ({ validation_status: status }) => status)[0]).toBe('passed');
    expect(both('wrong', ({ validation_status: status }) => status)[0]).toBe('failed');
    expect(both('baseline', evidenceOf)[1]).toMatchObject({ scriptPassed: 'passed' });
    expect(both('wrong', evidenceOf)[1]).toMatchObject({ scriptPassed: 'failed' });
  },
  '`hidden_tests: hidden/fix`': () => {
    expect(both('baseline', evidenceOf)[1]).toMatchObject({ testsPassed: 'passed' });
    expect(both('wrong', evidenceOf)[1]).toMatchObject({ testsPassed: 'failed' });
  },
  '`output_schema`': () => expect(both('wrong', evidenceOf)[1]).toMatchObject({ outputMatches: 'failed' }),
  '`expected_outcome`, `hard_evaluation`': () => {
    expect(both('wrong', ({ hard_evaluation_status: status }) => status)[0]).toBe('failed');
    expect(both('wrong', evidenceOf)[1]).toMatchObject({ fileChanged: 'passed', changedOnly: 'failed' });
  },
  '`side_effects: none`': () => expect(both('wrong', evidenceOf)[1]).toMatchObject({ changedOnly: 'failed' }),
  '`gateway: { mode: script, script: m.yaml }`': () =>
    expect(planned.code.gateway?.mode).toEqual(planned.yaml.gateway?.mode),
  '`gateway: { run_budget: { usd: 5 } }`': () => {
    expect(planned.code.gateway?.runBudget).toEqual(planned.yaml.gateway?.runBudget);
    expect(planned.code.gateway?.runBudget).toMatchObject({ costUsd: 5 });
  },
  '`judge`, `soft_evaluation`': async () => {
    project.write({ 'judged/whetstone.yaml': JSON.stringify({ judge: SHARED.judge }) });
    const { judge } = await loadProject(join(project.root, 'judged'));
    expect(planned.code.judge).toEqual({ ...judge, file: planned.code.judge?.file });
    expect(judge).toMatchObject({ votes: 3, budget: { costUsd: 2 } });
  },
  '`sandbox: process`': () => expect(planned.code.sandbox).toEqual(planned.yaml.sandbox),
  '`whetstone run --trials 3`': () =>
    expect([rows.yaml, rows.code].map((all) => all.map(({ trial_index: trial }) => trial).sort())).toEqual(
      Array(2).fill([1, 1, 2, 2]),
    ),
  '`category`, `difficulty`, and `whetstone run --category …`': () =>
    expect([rows.yaml, rows.code].map((all) => new Set(all.map(({ task_id: id }) => id)))).toEqual(
      Array(2).fill(new Set(['sum'])),
    ),
  '`gold_patch`, `protected_paths`, `changeable_paths`': async () => {
    const task = {
      id: 'sum',
      prompt: 'Write sum.',
      protected_paths: ['keep.txt'],
      changeable_paths: ['a.json'],
    };
    project.write({
      'code-tasks.ts': exported({ tasks: [task] }),
      'code.config.ts': exported({ ...BARE, tasks: 'code-tasks.ts' }),
    });
    const { config } = await loadConfig(join(project.root, 'code.config.ts'));
    expect(config.tasks).toMatchObject([{ protectedPaths: ['keep.txt'] }]);
  },
  // The eval asks for a deleted file only if the reply speaks of a total.
  '– (code)': () => expect(both('baseline', evidenceOf)[1]).toMatchObject({ fileDeleted: 'passed' }),
};

test('each row of the table has its promise, and each key of YAML its row', () => {
  expect(table).toEqual(Object.keys(PROMISES));
  // The keys of a variant are in one row, and the evals are the tasks.
  const keys = [rootSchema, taskSchema].flatMap(({ shape }) => Object.keys(shape));
  expect(keys.filter((key) => !new RegExp(`\\b${key}\\b`).test(table.join()))).toEqual(['tasks']);
});

test.each(Object.entries(PROMISES))('%s', async (_, holds) => {
  await holds();
});
