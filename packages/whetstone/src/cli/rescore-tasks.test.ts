import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

const tasks = ['one', 'two', 'three', 'four'].map((id) => ({ id, prompt: `Write ${id}.` }));

/** Writes what it was asked for; without the rules it forgets the last word. `four` runs into its time limit. */
const AGENT = `
case "$1" in *four*) sleep 60;; esac
printf 'done' > result.txt
test -f AGENTS.md && printf ' well' >> result.txt
exit 0
`;

describe('rescore of a run of tasks', () => {
  let project: Project;
  let stored: ReturnType<Project['latest']>;
  beforeAll(async () => {
    project = makeProject({
      agents: { amy: { script: AGENT, keys: { timeout_seconds: 1 } } },
      tasks,
      config: {
        variants: {
          without: {},
          with: { overlays: [{ source: 'notes.md', target: 'AGENTS.md' }] },
        },
        evaluation: { commands: ['grep done result.txt'] },
      },
    });
    project.write({ 'notes.md': 'Do it well.\n' });
    await project.whetstone(['run', '--jobs', '2']);
    stored = project.latest();
  });
  afterAll(() => project[Symbol.dispose]());

  const outcomes = (rows: typeof stored.rows) =>
    Object.fromEntries(rows.map((row) => [`${row.task_id} ${row.variant}`, row.outcome]));

  test('judges the stored trees with changed hidden tests, and names what flipped', async () => {
    project.write({ 'hidden/check.sh': 'grep well result.txt\n' });
    project.write({
      'stricter.yaml': JSON.stringify({
        tasks: tasks
          .slice(1)
          .map((task) => ({ ...task, hidden_tests: 'hidden', validation: { commands: ['sh check.sh'] } })),
      }),
    });
    const before = readFileSync(join(stored.directory, 'results.jsonl'), 'utf8');
    const rescored = await project.whetstone(['rescore', 'latest', '--tasks', 'stricter.yaml', '--json']);
    expect(rescored.exitCode).toBe(0);
    const said = JSON.parse(rescored.stdout);
    expect(said).toMatchObject({
      rescored_from: stored.manifest.run_id,
      ...{ rescored: 4, kept: 2, interrupted: false },
      left_out: [{ cases: 2, why: expect.stringContaining('no task one in ') }],
      changed: [
        { before: 'passed', after: 'failed', evidence: expect.stringContaining('`sh check.sh` exited 1') },
        { before: 'passed', after: 'failed' },
      ],
    });
    const { rows, manifest, directory } = project.latest();
    expect(directory).toBe(said.directory);
    expect(outcomes(rows)).toEqual({
      ...{ 'two without': 'failed', 'two with': 'passed', 'three without': 'failed' },
      ...{ 'three with': 'passed', 'four without': 'failed', 'four with': 'failed' },
    });
    expect(rows.map(({ failure_class }) => failure_class)).toEqual([
      ...['agent', null, 'agent', null],
      ...['timeout', 'timeout'],
    ]);
    expect(rows[0]?.reused_from).toEqual({
      run_id: stored.manifest.run_id,
      case_id: stored.rows[2]?.case_id,
    });
    // The tests are others, so `compare` must not take the tasks for the same.
    expect(manifest.tasks[0]?.fingerprint).not.toBe(stored.manifest.tasks[1]?.fingerprint);
    expect(manifest.notes.join('\n')).toContain(`Judged anew from run ${stored.manifest.run_id}`);
    expect(readFileSync(join(stored.directory, 'results.jsonl'), 'utf8')).toBe(before);
    const again = await project.whetstone(['run', '--resume', 'latest', '--tasks', 'stricter.yaml']);
    expect(again.stderr).toContain(`judges run ${stored.manifest.run_id} anew: no agent ran in it`);
  });

  test('takes other commands, and keeps the logs of the stored case as they are', async () => {
    const log = join(
      stored.directory,
      'cases',
      stored.rows[0]?.case_id ?? '',
      'verify/validation-0.stdout.log',
    );
    const before = readFileSync(log, 'utf8');
    const { run_id: id } = stored.manifest;
    const rescored = await project.whetstone(['rescore', id, '--validation', 'grep well result.txt']);
    expect(rescored.stdout).toContain('6 cases judged anew, 3 with another outcome');
    expect(rescored.stdout).toContain('2 cases kept: they ended before anything judged the work');
    expect(rescored.stdout).toMatch(
      /passed → failed {2}one__without__amy__trial-1: `grep well result.txt` exited 1/,
    );
    expect(readFileSync(log, 'utf8')).toBe(before);
  });

  test('verifies each tree several times, and says where the verifier disagrees with itself', async () => {
    // Passes, fails, passes: whatever the tree.
    const counter = join(project.notes, 'count');
    const flaky = `n=$(cat ${counter} 2>/dev/null || echo 0); echo $((n+1)) > ${counter}; test $((n % 3)) -ne 1`;
    const { run_id: id } = stored.manifest;
    const args = ['--validation', flaky, '--repeat', '3', '--json'];
    const rescored = await project.whetstone(['rescore', id, ...args]);
    const { summary, directory } = JSON.parse(rescored.stdout);
    const { rows } = project.latest();
    expect(rows[0]?.verifications).toEqual({ runs: 3, passed: 2, broken: 0 });
    expect(rows[0]?.validation_results.map(({ stdout_path }) => stdout_path)).toEqual([
      ...['verify/validation-0.stdout.log', 'verify-2/validation-0.stdout.log'],
      'verify-3/validation-0.stdout.log',
    ]);
    expect(existsSync(join(directory, 'cases', rows[0]?.case_id ?? '', 'verify-3'))).toBe(true);
    expect(summary.verifier).toMatchObject({ trees: 6, disagreed: 6, shown_share: null });
    // Two of three: two verifications of a tree disagree with a chance of 2/3.
    expect(summary.verifier.disagreement).toBeCloseTo(2 / 3);
    expect(summary.comparisons[0].verifier.averaged_difference).toBe(0);
    expect(summary.comparisons[0].verifier.standard_deviation).toBeCloseTo(Math.sqrt(6 / 3) / 4);
    expect(summary.caveats.join('\n')).toContain('Verifications of the same tree disagreed in 6 of 6 trees');
  });

  test('refuses what it cannot do: another variant, no case of the run, options of evals', async () => {
    const { run_id: id } = stored.manifest;
    const wrong = await project.whetstone(['rescore', id, '--tasks', 'nowhere.yaml']);
    expect(wrong).toMatchObject({ exitCode: 2 });
    expect(wrong.stderr).toContain('nowhere.yaml');
    project.write({ 'others.yaml': JSON.stringify({ tasks: [{ id: 'new', prompt: 'New.' }] }) });
    const other = await project.whetstone(['rescore', id, '--tasks', 'others.yaml']);
    expect(other.stderr).toContain(`The configuration has no task of run ${id}`);
    const both = await project.whetstone(['rescore', id, '--eval', 'a.eval.ts', '--validation', 'true']);
    expect(both.stderr).toContain('--eval is for runs of evals');
    const empty = await project.whetstone(['rescore', id, '--validation', '']);
    expect(empty).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('It must not be empty.') });
    project.write({ 'notes.md': 'Do it badly.\n' });
    const changed = await project.whetstone(['rescore', id]);
    expect(changed.stdout).toContain('4 cases left out: the variant with has changed since the run');
    project.write({ 'notes.md': 'Do it well.\n' });
  });
});
