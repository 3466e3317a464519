import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runGit } from '../workspace/__fixtures__/test-repo.ts';
import { runCommandLine } from './__fixtures__/command-line.ts';
import { makeProgram, makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
beforeAll(() => {
  project = makeProject({
    files: {
      'README.md': 'A project.\n',
      'CLAUDE.md': 'Be brief.\n',
      'GEMINI.md': 'Be loud.\n',
      'skills/tea/SKILL.md': '---\nname: tea\ndescription: Makes tea\n---\nBoil water.\n',
      'skills/empty/notes.txt': 'x',
      'data.json': '{}',
    },
    tasks: ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, prompt: 'x' })),
    agents: {
      writer: { script: 'true', keys: { context: { skills: '.skills' } } },
    },
  });
  writeFileSync(join(project.repo, 'AGENTS.md'), 'Be quick.\n');
  writeFileSync(join(project.repo, 'GEMINI.md'), 'Be silent.\n');
  writeFileSync(join(project.repo, 'blank.md'), ' \n');
});
afterAll(() => project[Symbol.dispose]());

/** In the folder of the configuration, which is not the repository. */
const tried = (path: string, ...args: string[]) =>
  project.whetstone(['try', join(project.repo, path), ...args]);

test.each([
  ['AGENTS.md', 'Does AGENTS.md help? HEAD does not have it', ['without', 'with'], 'nothing'],
  ['CLAUDE.md', 'Does CLAUDE.md help? HEAD has it as it is on disk', ['without', 'with'], 'the same'],
  ['GEMINI.md', 'Does your change of GEMINI.md help?', ['before', 'after'], 'another version'],
  [
    'README.md',
    'Does README.md help? Each tree as it is against the same with it, put',
    ['without', 'with'],
    'nothing',
  ],
  ['skills/tea', 'Does skills/tea help? HEAD has it as it is on disk', ['without', 'with'], 'the same'],
])('%s is compared with what HEAD has: %s', async (path, question, arms, committed) => {
  const { stdout, stderr, exitCode } = await tried(path, '--dry-run', '--json');
  expect(exitCode, stderr).toBe(0);
  const { plan } = JSON.parse(stdout);
  expect(plan).toMatchObject({ committed, baseline: arms[0], cases: 36, trials: 3 });
  expect(plan.question).toContain(question);
});

test('the plan says what runs, what it costs and takes as far as that is known, and what it can show', async () => {
  const status = () => runGit(project.repo, ['status', '--porcelain', '--', ':!.whetstone']);
  const before = status();
  const { stdout, exitCode } = await tried('AGENTS.md', '--dry-run', '--trials', '2', '--jobs', '2');
  expect(exitCode).toBe(0);
  expect(stdout).toContain(
    'Arms        without: Without AGENTS.md\n            with: With AGENTS.md as it is on disk\n',
  );
  expect(stdout).toContain(`Tasks       6 tasks of ${project.root}/tasks.yaml\n`);
  expect(stdout).toContain('24 cases: 1 agent × 6 tasks × 2 arms × 2 trials\n');
  const rows = stdout.match(/^[> ] +\d+ +\d+ +.*$/gm) ?? [];
  expect(rows.map((row) => row.replaceAll(/ +/g, ' '))).toEqual([
    ' 1 12 unknown unknown 86 pp',
    '> 2 24 unknown unknown 64 pp',
    ' 3 36 unknown unknown 54 pp',
    ' 5 60 unknown unknown 49 pp',
  ]);
  expect(stdout).toContain(
    'writer: no earlier run says what a case takes; its model is only known once it runs, so the plan has no price.',
  );
  expect(stdout).toMatch(/Nothing was started\.\n$/);
  // Only copies below .whetstone, which ignores itself.
  expect(status()).toBe(before);
  expect(runGit(project.repo, ['status', '--porcelain', '.whetstone/try'])).toBe('');
  expect(readdirSync(project.notes)).toEqual([]);
});

test.each([
  [3, 'none: too few tasks'],
  [4, '100 pp'],
])('with %d tasks and one trial each, the smallest difference is: %s', async (tasks, smallest) => {
  const few = ['--max-tasks', String(tasks), '--trials', '1', '--dry-run'];
  const { stdout } = await tried('AGENTS.md', ...few);
  expect(stdout).toMatch(new RegExp(`^> +1 .* ${smallest}$`, 'm'));
});

test('without a terminal and without --yes it shows the plan and runs nothing', async () => {
  const { stdout, stderr, exitCode } = await tried('AGENTS.md');
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(stderr).toContain('36 cases: 1 agent × 6 tasks × 2 arms × 3 trials');
  expect(stderr).toContain('Nothing was run: the plan needs a yes.');

  const asJson = await tried('AGENTS.md', '--json');
  expect(asJson).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('needs a yes') });
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    plan: { cases: 36, problems: [{ code: 'terminal-missing', exit_code: 2 }] },
  });
  expect(project.runDirectories()).toEqual([]);
});

test.each([
  [['nowhere.md'], 'This file or folder does not exist.'],
  [['data.json'], 'This file is not Markdown or text.'],
  [['skills/empty'], 'This folder has no SKILL.md.'],
  [['blank.md'], 'This file is empty.'],
  [['AGENTS.md', '--budget', '5'], '--budget needs a gateway, which counts the cost.'],
  [['AGENTS.md', '--agent', 'writter', '--dry-run'], 'did you mean writer?'],
  [['AGENTS.md', '--model', 'gpt-5', '--dry-run'], 'agents.writer.model'],
  [
    ['AGENTS.md', '--agent-command', 'x'],
    'There is a config, so --agent-command and --prepare are not used.',
  ],
  [['AGENTS.md', '--trials', '0'], 'It must be a whole number from 1.'],
])('try %j is refused: %s', async ([path = '', ...args], message) => {
  const { stderr, exitCode } = await tried(path, ...args);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});

/** In the repository, which has no configuration. */
const inRepo = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  runCommandLine({
    args: ['try', 'AGENTS.md', '--dry-run', ...args],
    cwd: project.repo,
    env: { ...project.environment, XDG_CACHE_HOME: join(project.root, 'cache'), ...env },
  });

test('without a config: an agent that is here, tasks of tasks/mined, else commits to try', async () => {
  makeProgram(join(project.root, 'bin/codex'), 'true');
  const nobody = await inRepo([], { PATH: '/usr/bin:/bin', HOME: project.root });
  expect(nobody).toMatchObject({ exitCode: 2 });
  expect(nobody.stderr).toContain('No agent of this machine can try AGENTS.md');

  const unsigned = await inRepo([], { PATH: `${project.root}/bin:/usr/bin:/bin`, HOME: project.root });
  expect(unsigned.stderr).toContain(
    'can try AGENTS.md (codex-cli: OPENAI_API_KEY is not set, and no login was found).',
  );

  // Before it mines.
  const unknown = await inRepo(['--agent', 'codexx']);
  expect(unknown.stderr).toContain('There is no agent "codexx".');
  const absent = await inRepo(['--agent', 'codex-cli'], { PATH: '/usr/bin:/bin', HOME: project.root });
  expect(absent.stderr).toContain('whetstone agents install codex-cli');

  const command = ['--agent-command', 'my-agent {prompt_file}'];
  const none = await inRepo(command);
  expect(none.stdout).toContain('Tasks       none yet: of 1 commit, 0 are candidates');
  expect(none).toMatchObject({ exitCode: 0, stderr: '' });

  const folder = join(project.repo, 'tasks/mined/one');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'task.yaml'), 'id: one\nprompt: x\nvalidation: { commands: ["true"] }\n');
  const config = join(project.repo, '.whetstone/try/AGENTS.md/whetstone.yaml');
  const { stdout, stderr, exitCode } = await inRepo(command);
  expect(stdout).toContain('Tasks       1 task of tasks/mined\n');
  expect(stdout).toContain(`Config      ${config}\n`);
  // What it shows as missing is what a run would refuse to start with.
  expect(stderr).toContain('my-agent is not on the PATH');
  expect(exitCode).toBe(2);
  expect(readFileSync(config, 'utf8')).toContain('source: ./after/AGENTS.md');
});

test('a budget in dollars is refused for a login, whose calls have no price', async () => {
  project.writeConfig({
    agents: { codex: { kind: 'codex-cli', auth: 'login' } },
    gateway: { mode: 'forward' },
  });
  const { stderr, exitCode } = await tried('AGENTS.md', '--budget', '5', '--dry-run');
  expect(stderr).toContain('--budget is in US dollars, and codex uses a login, whose calls have no price.');
  expect(exitCode).toBe(2);
});
