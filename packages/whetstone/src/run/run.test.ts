import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigErrors, loadConfig, type RunEvent, run } from 'whetstone';
import { makeRepo, makeTempDir, writeTree } from '../workspace/__fixtures__/test-repo.ts';

let folder: string;
let repo: string;
let config: string;

const CONFIG = (repoPath: string, command: string) => `
repo: { path: ${repoPath} }
agents:
  writer: { kind: custom, command: ${JSON.stringify(command)} }
tasks: tasks.yaml
variants:
  baseline: {}
  noted: { overlays: [{ source: notes.md, target: NOTES.md }] }
evaluation: { commands: ['grep --quiet done README.md'] }
output_dir: runs
`;

beforeEach(() => {
  folder = makeTempDir();
  repo = makeRepo({ 'README.md': 'A project.\n' });
  config = join(folder, 'whetstone.yaml');
  writeTree(folder, {
    'whetstone.yaml': CONFIG(repo, 'echo done >> README.md'),
    'notes.md': 'Notes.\n',
    'tasks.yaml': 'tasks: [{ id: one, prompt: First. }, { id: two, prompt: Second. }]\n',
  });
});

afterEach(() => {
  for (const path of [folder, repo]) rmSync(path, { recursive: true, force: true });
});

describe('run({ config })', () => {
  test('runs every case once, and resolves with rows, summary and directory', async () => {
    const result = await run({ config });
    expect(result.interrupted).toBe(false);
    expect(result.summary.cases).toMatchObject({ planned: 4, finished: 4, passed: 4, error: 0 });
    expect(result.ordered.map((row) => [row.task_id, row.variant, row.trial_index, row.outcome])).toEqual([
      ['one', 'baseline', 1, 'passed'],
      ['one', 'noted', 1, 'passed'],
      ['two', 'baseline', 1, 'passed'],
      ['two', 'noted', 1, 'passed'],
    ]);
    expect(result.manifest).toMatchObject({ trials: 1, jobs: 1 });
    expect(readFileSync(join(result.directory, 'report.md'), 'utf8')).toContain('writer');
  });

  test('takes a loaded configuration as well, and what limits the run', async () => {
    const events: RunEvent[] = [];
    const loaded = await loadConfig(config);
    const { summary, manifest } = await run({
      config: loaded.config,
      selection: { variants: ['baseline'], taskIds: ['two'] },
      trials: 2,
      jobs: 2,
      seed: 'fixed',
      onEvent: (event) => events.push(event),
    });
    expect(summary.cases).toMatchObject({ planned: 2, passed: 2 });
    expect(manifest).toMatchObject({ seed: 'fixed', trials: 2, jobs: 2 });
    expect(events.map(({ type }) => type).sort()).toEqual([
      'case.finished',
      'case.finished',
      ...Array(4).fill('case.progressed'),
      'case.started',
      'case.started',
      'preparing',
      'sandbox.chosen',
      'started',
    ]);
  });

  test('after an abort it resolves with what has finished, and the run can be resumed', async () => {
    const stop = new AbortController();
    const onEvent = ({ type }: RunEvent) => type === 'case.finished' && stop.abort();
    const first = await run({ config, signal: stop.signal, onEvent });
    expect(first).toMatchObject({ interrupted: true, summary: { cases: { finished: 1, missing: 3 } } });

    const events: RunEvent[] = [];
    const second = await run({ config, resume: 'latest', onEvent: (event) => events.push(event) });
    expect(second).toMatchObject({ interrupted: false, directory: first.directory });
    expect(second.summary.cases).toMatchObject({ planned: 4, passed: 4 });
    expect(events).toContainEqual(expect.objectContaining({ type: 'started', done: 1, total: 4 }));
    expect(events.filter(({ type }) => type === 'case.started')).toHaveLength(3);
  });

  test('warnings of a file come as events', async () => {
    writeTree(folder, { 'whetstone.yaml': `${CONFIG(repo, 'echo done >> README.md')}colour: blue\n` });
    const events: RunEvent[] = [];
    await run({ config, selection: { maxTasks: 1 }, onEvent: (event) => events.push(event) });
    expect(events[0]).toMatchObject({ type: 'warned', message: expect.stringContaining('unknown key') });
  });

  test('rejects with every diagnostic of a wrong file, before anything is written', async () => {
    writeTree(folder, { 'whetstone.yaml': 'repo: { path: nowhere }\n' });
    const error = await run({ config }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigErrors);
    expect((error as ConfigErrors).diagnostics.length).toBeGreaterThan(1);
  });

  test('rejects when the program of a selected agent is not installed', async () => {
    writeTree(folder, { 'whetstone.yaml': CONFIG(repo, 'no-such-agent-anywhere') });
    await expect(run({ config })).rejects.toThrow(/no-such-agent-anywhere/);
  });

  test.each([
    [{ jobs: 0 }, 'selection-invalid'],
    [{ trials: 1.5 }, 'selection-invalid'],
    [{ selection: { taskIds: ['three'] } }, 'selection-unknown'],
    [{ resume: 'nothing' }, 'run-not-found'],
  ])('rejects %j with %s', async (options, code) => {
    mkdirSync(join(folder, 'runs'));
    await expect(run({ config, ...options })).rejects.toMatchObject({ code });
  });
});
