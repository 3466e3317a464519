import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BIN, makeProject, type Project } from './__fixtures__/project.ts';

/** Of four cases two pass, one fails, and one has a verifier that is not there. */
const MIXED = {
  tasks: [
    { id: 'first', prompt: 'write' },
    { id: 'second', prompt: 'write' },
    { id: 'failing', prompt: 'LEAVE-IT' },
    { id: 'broken', prompt: 'write', validation: { commands: ['no-such-verifier'] } },
  ],
  agents: { writer: 'case "$1" in *LEAVE-IT*) ;; *) echo done > DONE ;; esac' },
  config: { evaluation: { commands: ['test -f DONE'] } },
};

const ESCAPE = String.fromCharCode(27);

describe('how a run ends', () => {
  let project: Project;
  beforeAll(async () => {
    project = makeProject(MIXED);
    const finished = await project.whetstone(['run', '--jobs', '2', '--json']);
    expect(finished.exitCode).toBe(1);
    // One JSON document on stdout, and nothing else.
    expect(JSON.parse(finished.stdout)).toMatchObject({
      cases: { planned: 4, passed: 2, failed: 1, error: 1 },
    });
  });
  afterAll(() => project[Symbol.dispose]());

  test.concurrent.each([
    ['50%', 0],
    ['0.51', 1],
    ['0', 0],
  ])('--fail-under %s: a case without a result is not a pass', async (rate, exitCode) => {
    using mixed = makeProject(MIXED);
    expect(await mixed.whetstone(['run', '--jobs', '2', '--fail-under', rate])).toMatchObject({ exitCode });
  });

  test('--fail-under judges the variants and not the baseline', async () => {
    using compared = makeProject({
      tasks: [{ id: 'one', prompt: 'write' }],
      agents: { reader: 'test -f RULES && echo done > DONE; true' },
      config: {
        baseline: 'plain',
        variants: { plain: {}, ruled: { overlays: [{ source: 'rules.md', target: 'RULES' }] } },
        evaluation: { commands: ['test -f DONE'] },
      },
    });
    compared.write({ 'rules.md': 'Write DONE.\n' });
    expect(await compared.whetstone(['run', '--fail-under', '100%'])).toMatchObject({ exitCode: 0 });
    expect(await compared.whetstone(['run', '--fail-under', '50%', '--variant', 'plain'])).toMatchObject({
      exitCode: 1,
    });
  });

  test('colours only on a terminal, or on request', async () => {
    const plain = await project.whetstone(['show', 'latest']);
    expect(plain.stdout).toContain('4 cases');
    expect(plain.stdout).not.toContain(ESCAPE);
    const forced = await project.whetstone(['show', 'latest'], { FORCE_COLOR: '1', NO_COLOR: '1', CI: '1' });
    expect(forced.stdout).toContain(ESCAPE);
    const none = await project.whetstone(['show', 'latest'], { FORCE_COLOR: '0', NO_COLOR: '1' });
    expect(none.stdout).toBe(plain.stdout);
  });

  test.each(['md', 'csv', 'json', 'junit'])(
    'report --format %s prints that and nothing else',
    async (format) => {
      const finished = await project.whetstone(['report', 'latest', '--format', format]);
      expect(finished).toMatchObject({ exitCode: 0, stderr: '' });
      const starts = { md: '# Run ', csv: 'schema_version,', json: '{\n', junit: '<?xml ' }[format] ?? '';
      expect(finished.stdout.startsWith(starts)).toBe(true);
    },
  );

  test('a reader that leaves early does not cause a crash', () => {
    const script = `"$0" "$1" report latest | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script, process.execPath, BIN], {
      cwd: project.root,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^# Run .*\n0\n$/);
  });

  test('a run continues when nobody reads its output', async () => {
    using quiet = makeProject({ agents: { writer: 'sleep 0.3; echo done > DONE' } });
    const run = quiet.start(['run']);
    run.child.stdout?.destroy();
    run.child.stderr?.destroy();
    expect(await run.finished).toMatchObject({ exitCode: 0, signal: null });
    expect(quiet.latest().rows.map(({ outcome }) => outcome)).toEqual(['passed', 'passed']);
  });

  test('output that cannot be written is an error', () => {
    const { status, stderr } = spawnSync(process.execPath, [BIN, 'report', 'latest'], {
      cwd: project.root,
      encoding: 'utf8',
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    });
    expect(status).toBe(3);
    expect(stderr).toContain('ENOSPC');
    expect(stderr).not.toContain('    at ');
  });

  test('a record that can no longer be written ends the run with exit code 3', async () => {
    using project = makeProject({ agents: { vandal: 'rm -rf "$NOTES/../runs"' } });
    const finished = await project.whetstone(['run']);
    expect(finished).toMatchObject({ exitCode: 3, stdout: '' });
    expect(finished.stderr).toMatch(/runs.*(Cannot write|can no longer be written).*ENOENT/s);
    expect(finished.stderr).not.toContain('please report this');
  });
});
