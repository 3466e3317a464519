import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempDir, runGit } from '../workspace/__fixtures__/test-repo.ts';
import { BIN, makeProject, type Project } from './__fixtures__/project.ts';

/** For `setpriv`. */
const AS_NOBODY = ['--reuid=65534', '--regid=65534', '--clear-groups'];

const agent = (command: unknown, more: Record<string, unknown> = {}) => ({
  agents: { writer: { kind: 'custom', command, ...more } },
});

/** A project whose agent would leave a note, with everything beside it that a configuration could wrongly name. */
function makeBadProject(): Project {
  const project = makeProject({ agents: { writer: 'touch "$NOTES/started"' } });
  mkdirSync(join(project.root, 'plain'));
  for (const [name, options] of [
    ['bare.git', ['--bare']],
    ['unborn', []],
  ] as const) {
    runGit(project.root, ['init', '-q', '-b', 'main', ...options, name]);
  }
  project.write({
    'file.txt': 'a file\n',
    'throws.ts': 'throw new Error("boom");\n',
    'number.ts': 'export default 5;\n',
    'broken.yaml': 'steps: {\n',
  });
  return project;
}

describe.concurrent('bad input is refused before anything starts', () => {
  test.each<[string, Record<string, unknown>, string, string]>([
    [
      'a repository that is not there',
      { repo: { path: 'nowhere' } },
      'repo.path: does not exist: ',
      'relative paths start at ',
    ],
    [
      'a folder that is not a repository',
      { repo: { path: 'plain' } },
      'plain: The folder is not a Git repository.',
      'git init && git add -A && git commit',
    ],
    [
      'a bare repository',
      { repo: { path: 'bare.git' } },
      'The repository is bare: it has no files to work on.',
      'git clone ',
    ],
    [
      'a repository without a commit',
      { repo: { path: 'unborn' } },
      'The repository has no commit yet.',
      'git add -A && git commit',
    ],
    ['no variant', { variants: {} }, 'variants: at least one', ''],
    ['no agent', { agents: {} }, 'agents: at least one agent is required', ''],
    [
      'an agent that is not installed',
      agent('no-such-agent {prompt}'),
      'agents.writer.command: no-such-agent is not on the PATH',
      'install it, put it on the PATH',
    ],
    [
      'an agent that is not a program',
      agent(['./file.txt']),
      'file.txt is not an executable file',
      'install it, put it on the PATH',
    ],
    [
      'a template variable that is unknown',
      agent('echo {promt}'),
      'agents.writer.command: unknown variable {promt}',
      'did you mean {prompt}?',
    ],
    [
      'a prompt template that is not there',
      agent('echo', { prompt_template: 'none.md' }),
      'prompt_template: does not exist',
      '',
    ],
    [
      'an overlay source that is not there',
      { variants: { a: { overlays: [{ source: 'none.md', target: 'A.md' }] } } },
      'variants.a.overlays[0].source: does not exist',
      'relative paths start at ',
    ],
    [
      'an overlay target outside of the tree',
      { variants: { a: { overlays: [{ source: 'file.txt', target: '../A.md' }] } } },
      'unsafe path: "../A.md"',
      'write a plain relative path',
    ],
    ['a task file that is not there', { tasks: 'none.yaml' }, 'tasks: does not exist', ''],
    [
      'an output folder that is a file',
      { output_dir: 'file.txt' },
      'file.txt: The output folder cannot be written',
      'Set output_dir in the configuration to a folder that you may write to.',
    ],
    [
      'a script that is not there',
      { gateway: { mode: 'script', script: 'none.ts' } },
      'gateway.script: does not exist',
      'relative paths start at ',
    ],
    [
      'a script that throws',
      { gateway: { mode: 'script', script: 'throws.ts' } },
      'throws.ts: The script cannot be loaded: boom',
      'Give a YAML file of steps',
    ],
    [
      'a script that is none',
      { gateway: { mode: 'script', script: 'number.ts' } },
      'number.ts: The default export is not a script',
      'defineScript',
    ],
    [
      'a script of broken YAML',
      { gateway: { mode: 'script', script: 'broken.yaml' } },
      'broken.yaml:2:1',
      'Give a YAML file of steps',
    ],
  ])('%s', async (_, config, message, hint) => {
    using project = makeBadProject();
    project.writeConfig(config);
    await refuses(project, ['run'], message, hint);
  });

  test('an unknown ref, with a suggestion', async () => {
    using project = makeBadProject();
    project.writeConfig({ repo: { path: project.repo, base_ref: 'mian' } });
    await refuses(project, ['run'], 'No commit is named "mian".', 'Did you mean main?');
  });

  test('no tasks, and two tasks of one name', async () => {
    using project = makeBadProject();
    project.writeTasks([]);
    await refuses(project, ['run'], 'at least one task is required', '');
    project.writeTasks([
      { id: 'same', prompt: 'a' },
      { id: 'same', prompt: 'b' },
    ]);
    await refuses(project, ['run'], 'duplicate task id', '');
  });

  test.each<[string, unknown, string, string]>([
    ['is not there', 'none.json', 'tasks[one].output_schema: does not exist', 'relative paths start at '],
    ['is not JSON', 'broken.yaml', 'broken.yaml  tasks[one].output_schema: is not JSON: ', ''],
    [
      'is of no agent here',
      { type: 'object' },
      'writer (kind: custom with a command) cannot be given an output schema',
      'move such agents to a separate configuration',
    ],
  ])('a schema for the answer that %s', async (_, schema, message, hint) => {
    using project = makeBadProject();
    project.writeTasks([{ id: 'one', prompt: 'Judge.', output_schema: schema }]);
    await refuses(project, ['run'], message, hint);
  });

  test('broken YAML, with its line and column', async () => {
    using project = makeBadProject();
    writeFileSync(join(project.root, 'whetstone.yaml'), 'repo:\n  path: [unclosed\n');
    await refuses(project, ['run'], 'whetstone.yaml:3:1  invalid YAML', '');
  });

  test('a config that does not exist', async () => {
    using project = makeBadProject();
    await refuses(project, ['run', '-c', 'none.yaml'], 'none.yaml', '');
    rmSync(join(project.root, 'whetstone.yaml'));
    await refuses(
      project,
      ['run'],
      'There is no whetstone.yaml, context-eval.yaml or whetstone.config.ts',
      'Write one with "whetstone init"',
    );
  });
});

/** Exit code 2, the message and the hint, nothing started, and nothing left that a later command stumbles over. */
async function refuses(project: Project, args: string[], message: string, hint: string): Promise<void> {
  const { exitCode, stdout, stderr } = await project.whetstone(args);
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).not.toContain('please report this');
  expect(project.runDirectories()).toEqual([]);
  expect(existsSync(join(project.notes, 'started'))).toBe(false);
  expect(readdirSync(project.temporary)).toEqual([]);
}

test.skipIf(!isOtherUserPossible())('a run that may not be read or written', { tags: 'root' }, async () => {
  using project = makeProject();
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 0 });
  const [run = ''] = project.runDirectories();
  execFileSync('chmod', ['-R', 'a+rX', project.root]);
  for (const [locked, args] of [
    [project.runs, ['report', 'latest']],
    [join(run, 'manifest.json'), ['show', run]],
    [join(run, 'journal.jsonl'), ['report', run]],
  ] as const) {
    chmodSync(locked, 0);
    const { status, stdout, stderr } = asNobody(project, args);
    expect(stderr).toContain(
      `${locked}: The file or folder cannot be read (EACCES).\n  Check who owns the file`,
    );
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    chmodSync(locked, 0o755);
  }
  const foreign = asNobody(project, ['report', run]);
  expect(foreign.stderr).toContain('The files of the report there were not changed.');
  expect(foreign.stdout).toContain(`# Run ${project.latest().manifest.run_id}`);
  expect(foreign.status).toBe(0);
});

function isOtherUserPossible(): boolean {
  return spawnSync('setpriv', [...AS_NOBODY, process.execPath, BIN, '--version']).status === 0;
}

function asNobody(project: Project, args: readonly string[]) {
  return spawnSync('setpriv', [...AS_NOBODY, process.execPath, BIN, ...args], {
    cwd: project.root,
    encoding: 'utf8',
  });
}

test.concurrent('a dirty tree is allowed: the commit counts, and that is said once', async () => {
  using project = makeProject({ agents: { writer: 'cat README.md > "$NOTES/seen"; ls > "$NOTES/listed"' } });
  writeFileSync(join(project.repo, 'README.md'), 'changed\n');
  writeFileSync(join(project.repo, 'untracked.txt'), 'new\n');
  const { exitCode, stdout, stderr } = await project.whetstone(['run', '--task-id', 'one']);
  expect(exitCode).toBe(0);
  expect(`${stdout}${stderr}`.replaceAll(/\s+/g, ' ').split('uncommitted changes')).toHaveLength(2);
  expect(execFileSync('cat', ['seen', 'listed'], { cwd: project.notes, encoding: 'utf8' })).toBe(
    'A project.\nREADME.md\ntest\n',
  );
  expect(project.latest().manifest.repo.dirty).toBe(true);
});

test.concurrent('a script that throws while it plays is not a result of the agent', async () => {
  using project = makeProject({
    config: {
      agents: { loop: { kind: 'loop', profile: 'openai' } },
      gateway: { mode: 'script', script: 'script.mjs' },
    },
  });
  project.write({
    'script.mjs': 'export default { name: "broken", play() { throw new Error("boom"); } };\n',
  });
  expect(await project.whetstone(['run', '--task-id', 'one'])).toMatchObject({ exitCode: 1 });
  expect(project.latest().rows).toMatchObject([{ outcome: 'error', failure_class: 'harness' }]);
  expect(project.latest().rows[0]?.evidence).toMatch(/script could not be played.*boom/);
});

/** A file system of its own size, where this user may mount one. */
function mountSmall(folder: string, size: string): boolean {
  mkdirSync(folder, { recursive: true });
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).status === 0;
}

function canMount(): boolean {
  const folder = makeTempDir();
  const mounted = mountSmall(folder, '64k');
  if (mounted) execFileSync('umount', [folder]);
  execFileSync('rmdir', [folder]);
  return mounted;
}

describe.skipIf(!canMount()).concurrent('a full disk', { tags: 'root' }, () => {
  const full = async (
    folder: (project: Project) => string,
    size: string,
    work: (project: Project) => Promise<void>,
  ) => {
    using project = makeProject({
      agents: { prints: 'head -c 3000000 /dev/zero | tr "\\0" x; touch DONE' },
      tasks: ['one', 'two'].map((id) => ({ id, prompt: 'x', validation: { commands: ['test -f DONE'] } })),
    });
    expect(mountSmall(folder(project), size)).toBe(true);
    // A process that has the command line loaded already does not see a file system that is mounted later.
    const whetstone: Project['whetstone'] = (args, env) => project.start(args, env).finished;
    try {
      await work({ ...project, whetstone });
    } finally {
      execFileSync('umount', ['-l', folder(project)]);
    }
  };

  test('under the results, from the start: nothing half-written is left', () =>
    full(
      ({ runs }) => runs,
      '8k',
      async (project) => {
        writeFileSync(join(project.runs, 'filler'), Buffer.alloc(8192));
        const { exitCode, stderr } = await project.whetstone(['run']);
        expect(stderr).toContain(
          `${project.runs}: No space is left for the results.\n  Free some space, or set output_dir`,
        );
        expect(exitCode).toBe(3);
        expect(readdirSync(project.runs)).toEqual(['filler']);
        expect(await project.whetstone(['report', 'latest'])).toMatchObject({ exitCode: 2 });
      },
    ));

  test('under the results, in the middle: what was written can be read, and the run can be resumed', () =>
    full(
      ({ runs }) => runs,
      '1m',
      async (project) => {
        const { exitCode, stderr } = await project.whetstone(['run']);
        expect(exitCode).toBe(3);
        expect(stderr).toContain('No space is left for the results.');
        expect(stderr).toContain('then resume the run with --resume');
        for (const args of [
          ['report', 'latest'],
          ['show', 'latest'],
        ]) {
          const shown = await project.whetstone(args);
          expect(shown.exitCode).toBe(0);
          expect(shown.stdout).toContain('2 cases: 0 passed');
        }
        execFileSync('mount', ['-o', 'remount,size=64m', project.runs]);
        expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 0 });
        expect(project.latest().rows.map(({ outcome }) => outcome)).toEqual(['passed', 'passed']);
      },
    ));

  test('under the workspaces, from the start', () =>
    full(
      ({ temporary }) => temporary,
      '8k',
      async (project) => {
        writeFileSync(join(project.temporary, 'filler'), Buffer.alloc(8192));
        const { exitCode, stderr } = await project.whetstone(['run']);
        expect(stderr).toContain('No space is left for workspaces.');
        expect(stderr).toContain('TMPDIR');
        expect(stderr).not.toContain('please report this');
        expect(exitCode).toBe(3);
        expect(project.runDirectories()).toEqual([]);
      },
    ));

  test('under the workspaces, by an agent: its own failure, and the next case has the space again', () =>
    full(
      ({ temporary }) => temporary,
      '4m',
      async (project) => {
        const script = 'case "$1" in *fill*) head -c 64000000 /dev/zero > big; exit 1 ;; esac; touch DONE';
        project.write({ 'agents/prints.sh': script });
        project.writeTasks([
          { id: 'one', prompt: 'fill' },
          { id: 'two', prompt: 'x', validation: { commands: ['test -f DONE'] } },
        ]);
        const { exitCode } = await project.whetstone(['run', '--seed', 'a']);
        expect(exitCode).toBe(1);
        const [filled, next] = project.latest().rows;
        expect(filled?.outcome).not.toBe('passed');
        expect(filled?.evidence).toMatch(/space|limit on disk/);
        expect(next).toMatchObject({ outcome: 'passed' });
      },
    ));
});

test.concurrent('without -c, the config of the current directory is used; without one, the name is asked for', async () => {
  using project = makeProject({});
  expect(await project.whetstone(['validate-config'])).toMatchObject({ exitCode: 0, stderr: '' });
  rmSync(join(project.root, 'whetstone.yaml'));
  for (const command of ['validate-config', 'run']) {
    const { exitCode, stderr } = await project.whetstone([command]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('whetstone init');
  }
});
