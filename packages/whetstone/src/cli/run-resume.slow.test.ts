import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../record/journal.ts';
import type { CaseRow } from '../record/row.ts';
import {
  eventually,
  makeProgram,
  makeProject,
  type Project,
  processesWith,
  readLines,
} from './__fixtures__/project.ts';

const TASKS = ['a', 'b', 'c', 'd'].map((id) => ({ id, prompt: `Do ${id}.` }));

/**
 * The second case to start hangs, in a process that ignores TERM and in one that has left the session; unless `$NOTES/go`
 * is there. Every start is noted.
 */
const HANGS_ONCE = `echo started >> "$NOTES/starts"
  [ -e "$NOTES/go" ] || mkdir "$NOTES/first" 2> /dev/null || {
    trap '' TERM; setsid -f tail -f "$NOTES/starts"; tail -f "$NOTES/starts"; tail -f "$NOTES/starts"
  }
  echo done >> README.md`;

const starts = (project: Project): number =>
  readFileSync(join(project.notes, 'starts'), 'utf8').split('\n').length - 1;
const identity = ({ case_id, fingerprint, outcome }: CaseRow) => ({ case_id, fingerprint, outcome });
const journalOf = (directory: string) => readLines<JournalEntry>(join(directory, 'journal.jsonl'));

const hanging = (project: Project): number[] => processesWith(join(project.notes, 'starts'));

async function untilHanging(project: Project): Promise<void> {
  await eventually('an agent that hangs', () => hanging(project).length >= 2);
}

/** From here on agents do their work. */
async function nothingLeft(project: Project): Promise<void> {
  await eventually('the end of every process', () => hanging(project).length === 0);
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(project.temporary);
  project.write({ 'notes/go': '' });
}

describe.concurrent('a run that was killed with no chance to clean up', () => {
  test('keeps finished cases, leaves no process, and runs the rest', async () => {
    using project = makeProject({ agents: { hangs: HANGS_ONCE }, tasks: TASKS });
    const run = project.start(['run', '--seed', 'same']);
    await untilHanging(project);
    process.kill(run.pid, 'SIGKILL');
    expect(await run.finished).toMatchObject({ signal: 'SIGKILL' });
    await nothingLeft(project);

    const [directory = ''] = project.runDirectories();
    appendFileSync(join(directory, 'journal.jsonl'), '{"type":"case.finished","case_id":"b","row":{"sche');
    const shown = await project.whetstone(['show', 'latest', '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ cases: { planned: 4, passed: 1, missing: 3 } });
    const reported = await project.whetstone(['report', 'latest', '--format', 'json']);
    const { cases: kept } = JSON.parse(reported.stdout);
    expect(kept).toHaveLength(1);
    expect((await project.whetstone(['show', 'latest', kept[0].case_id])).exitCode).toBe(0);

    const resumed = await project.whetstone(['run', '--resume', 'latest']);
    expect(resumed).toMatchObject({ exitCode: 0 });
    expect(resumed.stderr).toContain('3 of 4 cases are missing');
    expect(starts(project)).toBe(5); // four cases, and the one that was killed once more
    expect(project.runDirectories()).toEqual([directory]);
    const after = project.latest();
    expect(after.rows.find(({ case_id: id }) => id === kept[0].case_id)).toEqual(kept[0]);
    expect(readdirSync(project.temporary)).toEqual([]);

    expect(await project.whetstone(['run', '--resume', after.manifest.run_id])).toMatchObject({
      exitCode: 0,
    });
    expect(starts(project)).toBe(5);

    expect(await project.whetstone(['run', '--seed', 'same'])).toMatchObject({ exitCode: 0 });
    const uninterrupted = project.latest();
    expect(uninterrupted.directory).not.toBe(directory);
    expect(uninterrupted.manifest.order).toEqual(after.manifest.order);
    expect(after.rows.map(identity)).toEqual(uninterrupted.rows.map(identity));
  });
});

describe('a run that is interrupted', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s: what runs is killed, what has finished is kept',
    async (signal) => {
      using project = makeProject({ agents: { hangs: HANGS_ONCE }, tasks: TASKS });
      const run = project.start(['run', '--json']);
      await untilHanging(project);

      const other = await project.whetstone(['run', '--resume', 'latest']);
      expect(other).toMatchObject({ exitCode: 2, stdout: '' });
      // Nothing of it will run again: the first process still works.
      expect(other.stderr).not.toContain('warning');
      expect(other.stderr).toMatch(
        /run\.lock: Another process works on this run\.\n {2}Wait for the run, or stop it\./,
      );

      const interrupted = performance.now();
      process.kill(run.pid, signal);
      const { exitCode, stdout, stderr } = await run.finished;
      expect(performance.now() - interrupted).toBeLessThan(5_000);
      expect(exitCode).toBe(130);
      expect(JSON.parse(stdout)).toMatchObject({ cases: { planned: 4, passed: 1, missing: 3 } });
      await nothingLeft(project);
      const { directory, manifest, rows } = project.latest();
      expect(rows).toHaveLength(1);
      expect(stderr).toContain(`whetstone run --resume ${manifest.run_id}`);
      expect(journalOf(directory).at(-1)).toMatchObject({ type: 'run.interrupted', finished: 1 });
      expect(readdirSync(project.temporary)).toEqual([]);

      expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 0 });
      expect(project.latest().rows.map(({ outcome }) => outcome)).toEqual(Array(4).fill('passed'));
    },
  );

  test.concurrent('a second Ctrl-C leaves at once, and nothing runs on', async () => {
    using project = makeProject({ agents: { hangs: HANGS_ONCE }, tasks: TASKS });
    const run = project.start(['run']);
    await untilHanging(project);
    process.kill(run.pid, 'SIGINT');
    await run.said('Ctrl-C again to leave at once');
    process.kill(run.pid, 'SIGINT');
    expect(await run.finished).toMatchObject({ exitCode: 130, stdout: '' });
    await nothingLeft(project);
    expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 0 });
    expect(readdirSync(project.temporary)).toEqual([]);
  });
});

describe.concurrent('resuming', () => {
  test('is refused when it would not be the same work any more, and names what changed', async () => {
    const overlay = { overlays: [{ source: 'notes.md', target: 'AGENTS.md' }] };
    const config = { variants: { baseline: {}, noted: overlay } };
    const tasks = [{ ...TASKS[0], hidden_tests: 'hidden' }, { ...TASKS[1] }];
    using project = makeProject({ agents: { writer: HANGS_ONCE }, tasks, config });
    const original = {
      'notes.md': 'Read the tests.\n',
      'hidden/test/more.txt': 'original\n',
      'notes/go': '',
      'script.yaml': 'steps: []\n',
    };
    project.write(original);
    expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 0 });

    const changes: [string, () => void][] = [
      ['changed: variant noted', () => project.write({ 'notes.md': 'Do not read the tests.\n' })],
      ['changed: task a', () => project.write({ 'hidden/test/more.txt': 'other\n' })],
      [
        'changed: task b',
        () => project.writeTasks([tasks[0] ?? {}, { ...TASKS[1], prompt: 'Do something else.' }]),
      ],
      [
        'changed: task a, task b',
        () => project.writeConfig({ ...config, evaluation: { commands: ['false'] } }),
      ],
      [
        'changed: the sandbox or the script of the gateway',
        () => project.writeConfig({ ...config, gateway: { mode: 'script', script: 'script.yaml' } }),
      ],
      [
        'changed: agent writer',
        () => project.writeConfig({ ...config, agents: { writer: { kind: 'custom', command: ['true'] } } }),
      ],
    ];
    for (const [what, change] of changes) {
      change();
      const refused = await project.whetstone(['run', '--resume', 'latest']);
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
      expect(refused.stderr).toContain(what);
      expect(refused.stderr).toContain('Restore the configuration, or start a new run');
      project.write(original);
      project.writeTasks(tasks);
      project.writeConfig(config);
    }
    expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 0 });
    expect(starts(project)).toBe(4);
  });

  test.each([
    ['--trials', '3'],
    ['--seed', 'x'],
    ['--agent', 'writer'],
    ['--max-tasks', '1'],
  ])('takes no %s: the run has its own', async (flag, value) => {
    using project = makeProject();
    const refused = await project.whetstone(['run', '--resume', 'latest', flag, value]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain(`'--resume <run>' cannot be used with option '${flag}`);
  });

  test('runs only the cases again that failed in the infrastructure', async () => {
    using project = makeProject({ agents: { hangs: HANGS_ONCE }, tasks: TASKS.slice(0, 2) });
    const verifier = join(project.root, 'verifier');
    project.write({ 'notes/go': '' });
    project.writeTasks([{ ...TASKS[0] }, { ...TASKS[1], validation: { commands: [[verifier]] } }]);
    expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 1 });
    expect(project.latest().rows.map(({ outcome }) => outcome)).toEqual(['passed', 'error']);

    // Interrupted while it tries again, the run is interrupted: the old error is not a result.
    rmSync(join(project.notes, 'go'));
    project.write({ 'notes/first/.keep': '' });
    const run = project.start(['run', '--resume', 'latest']);
    await untilHanging(project);
    process.kill(run.pid, 'SIGINT');
    expect(await run.finished).toMatchObject({ exitCode: 130 });

    makeProgram(verifier, 'true');
    await nothingLeft(project);
    const resumed = await project.whetstone(['run', '--resume', 'latest']);
    expect(resumed.stderr).toContain('1 of 2 cases are missing');
    expect(resumed).toMatchObject({ exitCode: 0 });
    expect(starts(project)).toBe(4);
    expect(existsSync(join(project.latest().directory, 'run.lock'))).toBe(false);
  });

  test.each([
    ['no-such-run', 'There is no run no-such-run', 'Start one with: whetstone run'],
    ['.', 'is not a run directory: it has no manifest.json', 'Start one with: whetstone run'],
  ])('a run that is not there (%s): exit 2', async (reference, message, hint) => {
    using project = makeProject();
    for (const command of [
      ['run', '--resume', reference],
      ['report', reference],
      ['show', reference],
    ]) {
      const finished = await project.whetstone(command);
      expect(finished).toMatchObject({ exitCode: 2, stdout: '' });
      expect(finished.stderr).toContain(message);
      expect(finished.stderr).toContain(hint);
    }
  });
});
