import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalEntry } from '../record/journal.ts';
import { makeProject, type Project, readLines } from './__fixtures__/project.ts';

const cell = (row: { agent_name: string; task_id: string; variant: string; trial_index: number }): string =>
  [row.agent_name, row.task_id, row.variant, row.trial_index].join(' ');

/** Agent, task, variant, trial order of the matrix that the project configures. */
const planned = ['zed', 'amy'].flatMap((agent) =>
  ['two', 'one'].flatMap((task) =>
    ['with', 'without'].flatMap((variant) => [1, 2].map((trial) => `${agent} ${task} ${variant} ${trial}`)),
  ),
);

describe('the matrix of a run', () => {
  let project: Project;
  beforeAll(async () => {
    // Names against the alphabet: the order of the files counts, and no sorting.
    project = makeProject({
      agents: { zed: 'echo zed >> README.md', amy: 'echo amy >> README.md' },
      tasks: [
        { id: 'two', prompt: 'Second.', category: 'bug', difficulty: 'hard' },
        { id: 'one', prompt: 'First.', category: 'docs', difficulty: 'easy' },
      ],
      config: {
        variants: { with: { overlays: [{ source: 'notes.md', target: 'AGENTS.md' }] }, without: {} },
      },
    });
    project.write({ 'notes.md': 'Read the tests.\n' });
    const finished = await project.whetstone(['run', '--trials', '2', '--jobs', '4', '--seed', 'one-seed']);
    expect(finished).toMatchObject({ exitCode: 0 });
  });
  afterAll(() => project[Symbol.dispose]());

  test('rows come in agent, task, variant, trial order whatever the order in which cases ran', () => {
    const { rows, manifest } = project.latest();
    expect(rows.map(cell)).toEqual(planned);
    expect(manifest.case_matrix.map(cell)).toEqual(planned);
    expect(manifest.order).not.toEqual(manifest.case_matrix.map(({ case_id: id }) => id));
  });

  test('cases start in blocks: every variant of an agent, task and trial before the next block', () => {
    const { manifest } = project.latest();
    const blocks = manifest.order.map(
      (id) => manifest.case_matrix.find(({ case_id: other }) => other === id)?.block,
    );
    expect(new Set(blocks).size).toBe(8);
    for (let index = 0; index < blocks.length; index += 2) expect(blocks[index]).toBe(blocks[index + 1]);
  });

  test('each case is the same work as in the manifest, and its artifacts are its own', () => {
    const { rows, manifest, directory } = project.latest();
    expect(rows.map((row) => row.fingerprint)).toEqual(
      manifest.case_matrix.map((entry) => entry.fingerprint),
    );
    for (const row of rows) {
      const patch = readFileSync(join(directory, 'cases', row.case_id, 'changes.patch'), 'utf8');
      expect(patch).toContain(`+${row.agent_name}\n`);
      expect(row.touched_paths).toEqual(['README.md']);
    }
  });

  test('the same seed gives the same order, which one job follows; another seed gives another order', async () => {
    const four = project.latest();
    expect(await project.whetstone(['run', '--trials', '2', '--seed', 'one-seed'])).toMatchObject({
      exitCode: 0,
    });
    const one = project.latest();
    expect(one.directory).not.toBe(four.directory);
    expect(one.manifest.order).toEqual(four.manifest.order);
    expect(one.rows.map(({ fingerprint, outcome }) => ({ fingerprint, outcome }))).toEqual(
      four.rows.map(({ fingerprint, outcome }) => ({ fingerprint, outcome })),
    );
    const journal = readLines<JournalEntry>(join(one.directory, 'journal.jsonl'));
    const started = journal.flatMap((entry) => (entry.type === 'case.started' ? [entry.case_id] : []));
    expect(started).toEqual(one.manifest.order);

    const other = await dryRun(project, ['--trials', '2', '--seed', 'another']);
    expect([...other.order].sort()).toEqual([...one.manifest.order].sort());
    expect(other.order).not.toEqual(one.manifest.order);
  });

  test.concurrent.each([
    [
      'agents in the order of the flags',
      ['--agent', 'amy', '--agent', 'zed', '--task-id', 'one', '--variant', 'with'],
      ['amy one with 1', 'zed one with 1'],
    ],
    [
      'a name given twice counts once',
      ['--agent', 'amy', '--agent', 'amy', '--task-id', 'one', '--variant', 'with'],
      ['amy one with 1'],
    ],
    [
      'category and difficulty',
      ['--agent', 'zed', '--category', 'docs', '--difficulty', 'easy', '--variant', 'without'],
      ['zed one without 1'],
    ],
    [
      'the first tasks after the filters',
      ['--agent', 'zed', '--max-tasks', '1', '--variant', 'with'],
      ['zed two with 1'],
    ],
    [
      'trials',
      ['--agent', 'zed', '--task-id', 'two', '--variant', 'with', '--trials', '3'],
      [1, 2, 3].map((trial) => `zed two with ${trial}`),
    ],
  ])('selection: %s', async (_, flags, expected) => {
    const { cases } = await dryRun(project, flags);
    expect(cases.map(({ agent, task, variant, trial }) => `${agent} ${task} ${variant} ${trial}`)).toEqual(
      expected,
    );
  });

  test.concurrent.each([
    ['--agent', 'zet', 'Unknown agent "zet"', 'zed'],
    ['--variant', 'witout', 'Unknown variant "witout"', 'without'],
    ['--task-id', 'twoo', 'Unknown task "twoo"', 'two'],
    ['--category', 'dogs', 'Unknown category "dogs"', 'docs'],
    ['--difficulty', 'eassy', 'Unknown difficulty "eassy"', 'easy'],
  ])('%s %s: exit 2, and what was meant', async (flag, value, message, meant) => {
    const runs = project.runDirectories();
    const finished = await project.whetstone(['run', flag, value]);
    expect(finished).toMatchObject({ exitCode: 2, stdout: '' });
    expect(finished.stderr).toContain(message);
    expect(finished.stderr).toMatch(new RegExp(`did you mean "?${meant}"?\\?`));
    expect(project.runDirectories()).toEqual(runs);
  });

  test.concurrent('filters that leave nothing: exit 2, and what to do', async () => {
    const finished = await project.whetstone(['run', '--category', 'docs', '--difficulty', 'hard']);
    expect(finished).toMatchObject({ exitCode: 2, stdout: '' });
    expect(finished.stderr).toContain(
      'The filters leave no task.\n  A task has to match every filter: remove one of them.',
    );
  });

  test.concurrent.each([
    [['--trials', '0'], 'whole number from 1'],
    [['--jobs', 'many'], 'whole number from 1'],
    [['--max-tasks', '-1'], 'whole number from 1'],
    [['--fail-under', '120%'], 'a share from 0 to 1'],
    [['--agents', 'zed'], 'Did you mean --agent?'],
  ])('%j is a usage error', async (flags, message) => {
    const finished = await project.whetstone(['run', ...flags]);
    expect(finished).toMatchObject({ exitCode: 2, stdout: '' });
    expect(finished.stderr).toContain(message);
  });
});

type DryRun = { order: string[]; cases: { agent: string; task: string; variant: string; trial: number }[] };

async function dryRun(project: Project, flags: string[]): Promise<DryRun> {
  const finished = await project.whetstone(['run', '--dry-run', '--json', ...flags]);
  expect(finished).toMatchObject({ exitCode: 0, stderr: '' });
  return JSON.parse(finished.stdout);
}

test('a clock of the machine that is put back during a case does not change how long the case took', async () => {
  using project = makeProject({ tasks: [{ id: 'one', prompt: 'x' }] });
  // `new Date()` says when the case started; what asks `Date.now()` afterwards is an hour earlier.
  const putBack = 'data:text/javascript,const now = Date.now; Date.now = () => now() - 3600000;';
  const run = project.start(['run'], { NODE_OPTIONS: `--import "${putBack}"` });
  expect((await run.finished).exitCode).toBe(0);
  const [row] = project.latest().rows;
  expect(row?.duration_seconds).toBeGreaterThanOrEqual(row?.agent_duration_seconds ?? Number.NaN);
});
