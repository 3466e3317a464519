import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { renderCommand } from '@whetstone/agents/config';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../config/load-config.ts';
import { initRepo } from '../workspace/__fixtures__/git-folder.ts';
import { eventually, makeProgram } from './__fixtures__/project.ts';
import { type InitOptions, initCommand } from './init.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'init-'));
  initRepo(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A machine with the programs of these agents, and with these variables. */
function machine(programs: readonly string[] = [], variables: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const home = join(folder, '.git/home');
  for (const program of programs) makeProgram(join(home, 'bin', program), 'exit 1');
  return { PATH: join(home, 'bin'), HOME: home, XDG_CACHE_HOME: home, ...variables };
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

async function init(
  options: Partial<InitOptions> = {},
  { cwd = folder, env = machine() } = {},
): Promise<{ code: number; output: string }> {
  const { code, output } = await start(options, { cwd, env, keys: [] });
  return { code, output };
}

/** Runs `init`; with keys on a terminal, where each is pressed when its question is there. */
async function start(
  options: Partial<InitOptions>,
  {
    cwd,
    env,
    keys,
  }: { cwd: string; env: NodeJS.ProcessEnv; keys: readonly [question: string, keys: string][] },
) {
  const isTTY = keys.length > 0;
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => undefined });
  const stdout = Object.assign(new PassThrough(), { isTTY, columns: 100, rows: 40 });
  let output = '';
  stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = initCommand({ directory: '.', ...options }, { stdin, stdout }, { cwd, env });
  for (const [question, pressed] of keys) {
    await eventually(question, () => output.includes(question));
    stdin.write(pressed);
  }
  const code = await ended;
  await eventually('the end of the output', () => stdout.readableLength === 0);
  return { code, output };
}

const loaded = () => loadConfig('whetstone.yaml', { cwd: folder });

describe('without an agent on the machine', () => {
  it('writes a config with a stand-in that loads without a warning', async () => {
    const { code, output } = await init();
    expect(code).toBe(0);
    expect(output).toContain('Wrote whetstone.yaml\nWrote tasks.yaml\nWrote contexts/experiment/AGENTS.md\n');
    const { config, warnings } = await loaded();
    expect(warnings).toEqual([]);
    expect(config.repo.path).toBe(folder);
    expect(config.agents).toMatchObject([{ name: 'stand-in', kind: 'custom' }]);
    expect(config.variants.map(({ name }) => name)).toEqual(['baseline', 'experiment']);
    expect(config.baseline).toBe('baseline');
    expect(config.variants[1]?.instructions).toMatchObject({
      file: join(folder, 'contexts/experiment/AGENTS.md'),
    });
  });

  it('says that the agent is a stand-in, and how to measure one that is here', async () => {
    expect((await init()).output).toContain(
      'The agent is a stand-in that needs no key: it copies the task into NOTES.md.\nPut yours into whetstone.yaml.\n',
    );
    const { output } = await init({ force: true }, { cwd: folder, env: machine(['codex']) });
    expect(output).toContain(
      'To measure codex-cli: put OPENAI_API_KEY into .env, or sign in. Then whetstone init --force.\n',
    );
    expect((await init({ force: true, agentCommand: 'tool {prompt}' })).output).not.toContain('stand-in');
  });

  it('keeps runs out of commits, and leaves what is there', async () => {
    await init();
    const file = join(folder, '.whetstone/.gitignore');
    expect(readFileSync(file, 'utf8')).toBe('/runs/\n');
    writeFileSync(file, 'runs/\n');
    await init({ force: true });
    expect(readFileSync(file, 'utf8')).toBe('runs/\n');
  });

  it('writes a stand-in agent that does the task of the starter, so that the first run passes', async () => {
    await init();
    const { config } = await loaded();
    const [agent] = config.agents;
    const [task] = config.tasks;
    if (agent?.runner !== 'command' || !task) throw new Error('the starter has an agent and a task');
    write('prompt.md', task.prompt);
    const scripts = [
      renderCommand(agent.command, { prompt_file: join(folder, 'prompt.md') }),
      ...task.validation.commands,
    ];
    expect(scripts).toHaveLength(2);
    for (const command of scripts) {
      if (command.kind === 'shell') execFileSync('/bin/sh', ['-c', command.script], { cwd: folder });
    }
    expect(read('NOTES.md')).toBe(task.prompt);
  });
});

describe('what is there decides what is written', () => {
  test.each<[file: string, content: string, more: string[], command: string]>([
    ['package.json', '{"scripts":{"test":"vitest run"}}', [], 'npm test'],
    ['package.json', '{"scripts":{"test":"jest"}}', ['pnpm-lock.yaml'], 'pnpm test'],
    ['package.json', '{"scripts":{"test":"jest"}}', ['yarn.lock'], 'yarn test'],
    ['pyproject.toml', '[tool.pytest.ini_options]\n', [], 'python3 -m pytest'],
    ['pyproject.toml', '[dependency-groups]\ndev = ["pytest"]\n', ['uv.lock'], 'uv run pytest'],
    ['go.mod', 'module example.com/m\n', [], 'go test ./...'],
    ['Cargo.toml', '[package]\nname = "m"\n', [], 'cargo test'],
    ['Makefile', 'build:\n\ttrue\ntest: build\n\ttrue\n', [], 'make test'],
  ])('the tests: %s, %j', async (file, content, more, command) => {
    write(file, content);
    for (const name of more) write(name, '');
    const { output } = await init();
    expect(output).toContain(`${command} (${file})`);
    expect((await loaded()).config.evaluation.commands).toEqual([{ kind: 'shell', script: command }]);
  });

  it('takes no command from a script that npm wrote, or from a variable of a Makefile', async () => {
    write('package.json', '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}');
    write('Makefile', 'test := yes\n');
    expect((await init()).output).toContain('Tests         none\n');
    expect((await loaded()).config.evaluation.commands).toEqual([]);
  });

  it('has the repository as it is as baseline, and a variant that starts from its instructions', async () => {
    write('AGENTS.md', '# Ours\n');
    write('CLAUDE.md', '@AGENTS.md\n');
    await init();
    const { config } = await loaded();
    expect(config.variants[0]).toMatchObject({ name: 'baseline', overlays: [] });
    expect(config.variants[1]).toMatchObject({
      overlays: [{ target: 'AGENTS.md' }, { target: 'CLAUDE.md' }],
    });
    expect(read('contexts/experiment/AGENTS.md')).toBe('# Ours\n');
    expect(read('contexts/experiment/CLAUDE.md')).toBe('@AGENTS.md\n');
    expect(read('AGENTS.md')).toBe('# Ours\n');
  });

  it('lays one file over a link and its target', async () => {
    write('AGENTS.md', '# Ours\n');
    symlinkSync('AGENTS.md', join(folder, 'CLAUDE.md'));
    await init();
    expect((await loaded()).config.variants[1]).toMatchObject({ overlays: [{ target: 'AGENTS.md' }] });
  });

  it('takes the agents that are here with a key, through the gateway', async () => {
    const { output } = await init(
      {},
      { cwd: folder, env: machine(['codex', 'gemini'], { OPENAI_API_KEY: 'k' }) },
    );
    expect(output).toContain('Agents        codex-cli: on the PATH, OPENAI_API_KEY is set\n');
    expect(output).toContain('              gemini-cli: on the PATH, GEMINI_API_KEY is not set\n');
    const { config, warnings } = await loaded();
    expect(warnings).toEqual([]);
    expect(config.agents).toMatchObject([{ name: 'codex-cli', kind: 'codex-cli', runner: 'driver' }]);
    expect(config.gateway).toMatchObject({ mode: 'forward', runBudget: { tokens: 20_000_000 } });
    expect(read('.env.example')).toContain('\nOPENAI_API_KEY=\n');
  });

  it('takes a key from .env, and finds a login without showing it', async () => {
    write('.env', 'ANTHROPIC_API_KEY=sk-secret\n');
    const env = machine(['claude', 'codex']);
    mkdirSync(join(env.HOME ?? '', '.codex'), { recursive: true });
    writeFileSync(join(env.HOME ?? '', '.codex/auth.json'), '{"tokens":{"access_token":"secret-token-1"}}');
    const { output } = await init({}, { cwd: folder, env });
    expect(output).toContain('claude-code: on the PATH, ANTHROPIC_API_KEY is set\n');
    expect(output).toContain('codex-cli: on the PATH, OPENAI_API_KEY is not set, its own login was found\n');
    expect((await loaded()).config.agents).toMatchObject([
      { kind: 'codex-cli', driver: { auth: 'login' } },
      { kind: 'claude-code', driver: { inherit: [] } },
    ]);
    expect(`${output}${read('whetstone.yaml')}${read('.env.example')}`).not.toContain('secret');
  });

  it('warns of a .env that Git would commit', async () => {
    const warning = 'Add .env to .gitignore before you put a key into it.';
    expect((await init()).output).toContain(warning);
    write('.gitignore', '.env\n');
    expect((await init({ force: true })).output).not.toContain(warning);
  });

  it('finds the repository from a folder inside it', async () => {
    write('sub/package.json', '{}');
    write('go.mod', 'module m\n');
    await init({}, { cwd: join(folder, 'sub'), env: machine() });
    const { config } = await loadConfig('whetstone.yaml', { cwd: join(folder, 'sub') });
    expect(config.repo.path).toBe(folder);
    expect(config.evaluation.commands).toEqual([{ kind: 'shell', script: 'go test ./...' }]);
  });
});

describe('editors', () => {
  it('get the schemas of the package that the folder has installed', async () => {
    write('node_modules/whetstone/schema/whetstone.schema.json', '{}');
    await init({ directory: 'evals' });
    const schema = '../node_modules/whetstone/schema';
    expect(read('evals/whetstone.yaml')).toMatch(
      `# yaml-language-server: $schema=${schema}/whetstone.schema.json\n`,
    );
    expect(read('evals/tasks.yaml')).toMatch(`# yaml-language-server: $schema=${schema}/tasks.schema.json\n`);
    expect(existsSync(join(folder, 'evals/.whetstone/schema'))).toBe(false);
  });

  it('get copies where it is not installed', async () => {
    await init();
    const [, file = ''] = /\$schema=(.*)\n/.exec(read('whetstone.yaml')) ?? [];
    expect(JSON.parse(read(file))).toMatchObject({ title: 'whetstone.yaml' });
  });
});

describe('on a terminal', () => {
  const env = () => machine(['codex', 'claude'], { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' });
  const ENTER = '\r';

  it('asks, and what was found is the first answer', async () => {
    write('package.json', '{"scripts":{"test":"vitest run"}}');
    const keys: [string, string][] = [
      ['Which agents?', ENTER],
      ['Which command runs the tests?', ENTER],
      ['Write a workflow', ENTER],
    ];
    const { code } = await start({}, { cwd: folder, env: env(), keys });
    expect(code).toBe(0);
    const { config } = await loaded();
    expect(config.agents.map(({ kind }) => kind).sort()).toEqual(['claude-code', 'codex-cli']);
    expect(config.evaluation.commands).toEqual([{ kind: 'shell', script: 'npm test' }]);
    expect(existsSync(join(folder, '.github'))).toBe(false);
  });

  it('writes what the person answers', async () => {
    const keys: [string, string][] = [
      ['Which agents?', ` ${ENTER}`],
      ['Which command runs the tests?', `./check.sh${ENTER}`],
      ['Write a workflow', `y${ENTER}`],
    ];
    expect(await start({}, { cwd: folder, env: env(), keys })).toMatchObject({ code: 0 });
    const { config } = await loaded();
    expect(config.agents).toHaveLength(1);
    expect(config.evaluation.commands).toEqual([{ kind: 'shell', script: './check.sh' }]);
    expect(existsSync(join(folder, '.github/workflows/whetstone.yaml'))).toBe(true);
  });

  it('writes nothing when the person stops', async () => {
    const keys: [string, string][] = [['Which agents?', '\u0003']];
    expect(await start({}, { cwd: folder, env: env(), keys })).toMatchObject({
      code: 130,
      output: expect.stringContaining('Nothing was written.'),
    });
    expect(existsSync(join(folder, 'whetstone.yaml'))).toBe(false);
  });

  it('asks nothing with --yes', async () => {
    const { code, output } = await start({ yes: true }, { cwd: folder, env: env(), keys: [['Wrote', '']] });
    expect(code).toBe(0);
    expect(output).not.toContain('Which agents?');
  });
});

test('the workflow runs the config with the keys of its agents, from the root of the repository', async () => {
  const env = machine(['codex'], { OPENAI_API_KEY: 'k' });
  await init({ ci: true, directory: 'evals' }, { cwd: folder, env });
  const { on, jobs } = parse(read('.github/workflows/whetstone.yaml'));
  expect(on.pull_request.paths).toContain('evals/contexts/**');
  const keys = 'OPENAI_API_KEY';
  const steps: { run?: string; env?: Record<string, string> }[] = jobs.measure.steps;
  expect(steps.map(({ run }) => run)).toContain('whetstone agents install codex-cli');
  const measuring = steps.filter(({ run }) => run?.startsWith('whetstone ci run -c evals/whetstone.yaml '));
  expect(measuring).toHaveLength(2);
  for (const { env } of measuring) expect(env).toEqual({ [keys]: `\${{ secrets.${keys} }}` });
  // No other step has a key, and none with a key has the token of the job.
  for (const step of steps)
    if (!measuring.includes(step)) expect(JSON.stringify(step)).not.toContain('secrets.');
  for (const step of measuring) expect(JSON.stringify(step)).not.toMatch(/token/i);
});

test('--json prints what was found and written', async () => {
  write('go.mod', 'module m\n');
  const { output } = await init({ json: true }, { cwd: folder, env: machine(['codex']) });
  expect(JSON.parse(output)).toMatchObject({
    written: ['whetstone.yaml', 'tasks.yaml', 'contexts/experiment/AGENTS.md', '.env.example'],
    kept: [],
    found: {
      repository: folder,
      tests: [{ command: 'go test ./...', from: 'go.mod' }],
      agents: [{ kind: 'codex-cli', key_variable: 'OPENAI_API_KEY', key_is_set: false }],
    },
  });
  expect(readFileSync(join(folder, '.whetstone/.gitignore'), 'utf8')).toBe('/runs/\n');
});

test('presets of every command kind load without a warning', async () => {
  await init({ agentProfiles: true, agentCommand: `tool --say "it's {prompt}"` });
  const { config, warnings } = await loaded();
  expect(warnings).toEqual([]);
  expect(config.agents.map(({ name, kind }) => [name, kind])).toEqual([
    ['codex', 'codex-cli'],
    ['claude', 'claude-code'],
    ['trae', 'traecli'],
    ['coco', 'coco'],
    ['bub', 'bub'],
    ['custom', 'custom'],
  ]);
  expect(config.agents[0]).toMatchObject({
    command: {
      script:
        'codex exec --json --sandbox workspace-write --skip-git-repo-check --output-last-message {output_dir}/codex-final-message.md -C {workspace} - < {prompt_file}',
    },
    telemetry: { collector: 'codex-jsonl' },
  });
  expect(config.agents[5]).toMatchObject({
    command: { kind: 'shell', script: `tool --say "it's {prompt}"` },
  });
});

test('an agent command and a repository elsewhere are taken as they are', async () => {
  await init({ directory: 'eval', repoPath: '.', agentCommand: 'agent: #x {prompt_file}' });
  const { config, warnings } = await loadConfig('eval/whetstone.yaml', { cwd: folder });
  expect(warnings).toEqual([]);
  expect(config.repo.path).toBe(folder);
  expect(config.agents[0]).toMatchObject({ command: { kind: 'shell', script: 'agent: #x {prompt_file}' } });
});

test.each([
  ['a repository that is not there', { repoPath: 'nowhere' }, 'repo-missing'],
  ['a command with an unknown variable', { agentCommand: 'codex {promt}' }, 'template-invalid'],
  ['a folder that cannot be made', { directory: '.git/config/below' }, 'output-unwritable'],
])('%s is refused', async (_, options, code) => {
  await expect(init(options)).rejects.toMatchObject({ code, exitCode: 2 });
  expect(existsSync(join(folder, 'whetstone.yaml'))).toBe(false);
});

test('a config above says from where commands in a subfolder no longer get theirs', async () => {
  write('context-eval.yaml', '');
  write('part/README.md', '');
  const said = 'Without -c, commands in part now use this config, and no longer context-eval.yaml.';
  expect((await init({ directory: 'part' })).output).toContain(said);
  expect((await init({ directory: 'part', force: true })).output).not.toContain('Without -c');
});

test('nothing that exists is overwritten', async () => {
  write('tasks.yaml', 'mine');
  await expect(init()).rejects.toMatchObject({
    code: 'init-exists',
    message: 'These files exist already: tasks.yaml',
    exitCode: 2,
  });
  expect(read('tasks.yaml')).toBe('mine');
  await expect(loaded()).rejects.toThrow('does not exist');
  write('.env.example', 'MINE=\n');
  write('.github/workflows/whetstone.yaml', 'mine');
  const { output } = await init({ force: true, ci: true });
  expect(read('tasks.yaml')).toContain('first-task');
  expect(output).toContain(
    'Kept .env.example, which exists\nKept .github/workflows/whetstone.yaml, which exists\n',
  );
  expect([read('.env.example'), read('.github/workflows/whetstone.yaml')]).toEqual(['MINE=\n', 'mine']);
});

test('nothing is written among the files of a bare repository', async () => {
  const bare = join(folder, 'bare');
  execFileSync('git', ['init', '--quiet', '--bare', bare]);
  const before = readdirSync(bare);
  await expect(init({ directory: bare })).rejects.toMatchObject({ code: 'repo-bare' });
  expect(readdirSync(bare)).toEqual(before);
});
