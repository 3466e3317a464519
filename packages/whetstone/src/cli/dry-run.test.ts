import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fingerprint, runGit } from '../workspace/__fixtures__/test-repo.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

describe.concurrent('a dry run', () => {
  let project: Project;
  beforeAll(() => {
    project = makeProject({
      tasks: [
        { id: 'one', prompt: 'It costs `$(touch pwned)` "much".\n', setup: ['touch "$NOTES/setup"'] },
        { id: 'two', prompt: 'Do the second thing.', protected_paths: ['test', 'tests/**'] },
      ],
    });
    project.writeConfig({
      agents: {
        shell: {
          kind: 'custom',
          command: `sh ${join(project.root, 'agents/writer.sh')} "{prompt}" --task {task_id} --in {output_dir}`,
          resume_command: 'echo {session_id}',
          env: { SERVICE_KEY: `\${CANARY_KEY}`, MODE: 'literal-value' },
        },
        loop: { kind: 'loop', profile: 'openai', model: 'some-model', api_key_env: 'CANARY_KEY' },
      },
      variants: { plain: {}, noted: { instructions: 'Take notes.\nMany.\n' } },
      baseline: 'noted',
    });
    project.write({ 'agents/writer.sh': 'touch "$NOTES/started"; printf %s "$1" > "$NOTES/prompt-$$"' });
  });
  afterAll(() => project[Symbol.dispose]());

  test('shows the matrix, the order and the commands, and starts nothing', async () => {
    const before = fingerprint(project.repo);
    const { exitCode, stdout, stderr } = await project.whetstone(
      ['run', '--dry-run', '--trials', '2', '--seed', 's'],
      {
        CANARY_KEY: 'a-secret-value',
      },
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('16 cases: 2 agents × 2 tasks × 2 variants × 2 trials');
    expect(stdout).toContain('noted (baseline)');
    expect(stdout).toContain('Seed        s\n');
    expect(stdout).toContain('Protected   test (two): 1 file of the commit\n');
    expect(stdout).toContain('Protected   tests/** (two): 0 files of the commit\n');
    expect(stdout).toMatch(
      /SERVICE_KEY=\*\*\* MODE=\*\*\* sh \S+writer\.sh "<prompt text>" --task one --in <case>\/output\n/,
    );
    expect(stdout).toContain('then SERVICE_KEY=*** MODE=*** echo <session>\n');
    expect(stdout).toContain('--profile openai --model some-model');
    expect(stdout).toContain(
      "Instruction files, in the order of the first request:\n  plain (loop)  none\n  noted (loop)  AGENTS.md (with the variant's)\n",
    );
    expect(stdout).toMatch(/Starting order:\n {3}1 {2}\S+__trial-\d\n(?:.*\n){15}\nNothing was started\.\n$/);
    expect(stdout).not.toMatch(/a-secret-value|literal-value/);

    expect(fingerprint(project.repo)).toBe(before);
    expect(readdirSync(project.notes)).toEqual([]);
    expect(readdirSync(project.temporary)).toEqual([]);
    expect(existsSync(project.runs)).toBe(false);
  });

  test('the order it shows is the one that a run with this seed takes', async () => {
    const json = await project.whetstone(['run', '--dry-run', '--json', '--seed', 's']);
    const { order } = JSON.parse(json.stdout);
    const again = await project.whetstone(['run', '--dry-run', '--json', '--seed', 's']);
    expect(JSON.parse(again.stdout).order).toEqual(order);
    expect(order).toHaveLength(8);
  });

  test('of a run to resume: the missing cases', async () => {
    using interrupted = makeProject({
      agents: { writer: 'true' },
      tasks: [
        { id: 'one', prompt: 'x', validation: { commands: ['true'] } },
        { id: 'two', prompt: 'x', validation: { commands: ['no-such-verifier'] } },
      ],
    });
    expect(await interrupted.whetstone(['run'])).toMatchObject({ exitCode: 1 });
    const { stdout } = await interrupted.whetstone(['run', '--resume', 'latest', '--dry-run']);
    expect(stdout).toContain('1 of 2 cases are missing');
    expect(stdout).toContain('  1  two__baseline__writer__trial-1\n');
    expect(stdout).not.toContain('one__baseline__writer__trial-1\n');
  });
});

test.concurrent('a dry run and validate-config say in the words of the run that submodules are empty folders', async () => {
  using project = makeProject({ tasks: [{ id: 'one', prompt: 'x' }] });
  const commit = runGit(project.repo, ['rev-parse', 'HEAD']).trim();
  runGit(project.repo, ['update-index', '--add', '--cacheinfo', `160000,${commit},vendor/module`]);
  runGit(project.repo, ['commit', '-q', '-m', 'a submodule']);
  const { stdout } = await project.whetstone(['run', '--dry-run']);
  const note = 'Submodules are empty folders in every workspace: vendor/module.';
  expect(stdout).toContain(`Note        ${note}\n`);
  const json = await project.whetstone(['run', '--dry-run', '--json']);
  expect(JSON.parse(json.stdout).submodules).toEqual(['vendor/module']);
  const valid = await project.whetstone(['validate-config']);
  expect(valid.stdout).toContain(`\n${note}\n`);
  const validJson = await project.whetstone(['validate-config', '--json']);
  expect(JSON.parse(validJson.stdout).submodules).toEqual(['vendor/module']);
  await project.whetstone(['run']);
  expect(project.latest().manifest.notes).toContain(note);
  // Where nobody can look, none is not the answer.
  rmSync(join(project.repo, '.git'), { recursive: true });
  const unread = await project.whetstone(['validate-config', '--json']);
  expect(JSON.parse(unread.stdout)).toMatchObject({ submodules: null, withheld: null });
});

test.concurrent('the prompt is the same in every arm and trial, and arrives as text', async () => {
  using project = makeProject({
    agents: { writer: `printf %s "$1" > "$(mktemp "$NOTES/prompt-XXXXXX")"` },
    tasks: [
      { id: 'one', title: 'A title', prompt: 'It costs `$(touch pwned)` "much" \'and\' $HOME;\n# more\n' },
    ],
    config: { variants: { 'arm-plain': {}, 'arm-noted': {} } },
  });
  expect(await project.whetstone(['run', '--trials', '2', '--jobs', '2'])).toMatchObject({ exitCode: 0 });
  const prompts = readdirSync(project.notes).map((name) => readFileSync(join(project.notes, name), 'utf8'));
  expect(prompts).toHaveLength(4);
  expect(new Set(prompts).size).toBe(1);
  const [prompt = ''] = prompts;
  expect(prompt).toContain('It costs `$(touch pwned)` "much" \'and\' $HOME;\n# more\n');
  expect(prompt).not.toMatch(/arm-|trial|variant|baseline|task_id|\bone\b/i);
  const { directory, rows } = project.latest();
  for (const row of rows) {
    expect(readFileSync(join(directory, 'cases', row.case_id, 'prompt.md'), 'utf8')).toBe(prompt);
    expect(row.touched_paths).toEqual([]);
  }
});
