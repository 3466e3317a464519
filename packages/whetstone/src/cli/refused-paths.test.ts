import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
beforeAll(async () => {
  project = makeProject({ tasks: [{ id: 'one', prompt: 'Do it.' }] });
  project.write({ file: 'in place of a folder' });
  execFileSync('git', ['init', '-q'], { cwd: project.root });
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 0 });
  const gateway = { mode: 'record', cassettes: '/proc/nowhere/cassettes' };
  project.writeConfig({ agents: { one: { kind: 'loop', profile: 'anthropic' } }, gateway });
});
afterAll(() => project[Symbol.dispose]());

/** In `/proc` nobody can make a folder, and Node’s recursive `mkdir` never ends there. */
const PLACES = ['file/x', ...(process.platform === 'linux' ? ['/proc/nowhere/x'] : [])];

describe.each(PLACES)('an output below %s is an error that says how to fix it', (place) => {
  test.each([
    { args: ['ci', 'github', '--out'], what: 'The file', fix: 'Give --out a file in a folder' },
    { args: ['ci', 'gitlab', '--out'], what: 'The file', fix: 'Give --out a file in a folder' },
    {
      args: ['export', 'latest', '--format', 'atif', '--out'],
      what: 'The folder',
      fix: 'Give --out a folder',
    },
    { args: ['report', 'latest', '--out'], what: 'The report', fix: 'Give --out a file in a folder' },
    { args: ['environments', 'save'], what: 'The archive', fix: 'Name a file in a folder' },
    { args: ['init', '--yes', '--directory'], what: 'The folder', fix: 'Give --directory a folder' },
  ])('$args', async ({ args, what, fix }) => {
    const { exitCode, stderr } = await project.whetstone([...args, `${place}/out`]);
    expect(stderr).toContain(`${place}/out: ${what} cannot be written (`);
    expect(stderr).toContain(fix);
    expect(stderr).toContain('whetstone errors output-unwritable');
    expect(exitCode).toBe(2);
  });
});

test.runIf(process.platform === 'linux')(
  'the folder of the recordings is one of them',
  { tags: 'linux' },
  async () => {
    const { exitCode, stderr } = await project.whetstone(['run'], { ANTHROPIC_API_KEY: 'of-nobody' });
    expect(stderr).toContain('/proc/nowhere/cassettes: The folder cannot be written (ENOENT).');
    expect(stderr).toContain('Give `gateway.cassettes` a folder');
    expect(exitCode).toBe(2);
  },
);

test('any other path that the system refuses is an error as well, and no defect', async () => {
  using other = makeProject();
  rmSync(other.runs, { recursive: true, force: true });
  other.write({ '.whetstone': 'a file' });
  const { exitCode, stderr } = await other.whetstone(['canary', 'start']);
  expect(stderr).toMatch(
    /\.whetstone[^\n]*: The system refuses this path: [^\n]* \((EEXIST|ENOTDIR), mkdir\)\./,
  );
  expect(stderr).toContain('whetstone errors path-refused');
  expect(exitCode).toBe(2);
});

test.runIf(process.platform === 'linux')(
  'a temporary folder that cannot be made is one of them',
  { tags: 'linux' },
  async () => {
    const started = project.start(['tasks', 'mine', '--repo', project.repo], { TMPDIR: '/proc/nowhere' });
    const { exitCode, stderr } = await started.finished;
    expect(stderr).toContain('/proc/nowhere: The system refuses this path');
    expect(stderr).toContain('TMPDIR');
    expect(exitCode).toBe(2);
  },
);
