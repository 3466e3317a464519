// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the config
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { initRepo } from '../workspace/__fixtures__/git-folder.ts';
import { type ValidateConfigOptions, validateConfigCommand } from './validate-config.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'validate-')));
  initRepo(join(folder, 'repo'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function git(...args: string[]): void {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
  execFileSync('git', ['-C', join(folder, 'repo'), ...identity, ...args], { stdio: 'pipe' });
}

function commit(): void {
  git('commit', '-q', '--allow-empty', '-m', 'first');
}

const CONFIG = `repo: {path: repo}
agents:
  shell: {kind: custom, command: "FOO=1 sh agent.sh"}
variants: {baseline: , other: }
evaluation: {commands: ["true"]}
`;

function write(config = CONFIG, tasks = 'tasks:\n  - {id: one, prompt: Do it}\n'): void {
  writeFileSync(join(folder, 'whetstone.yaml'), config);
  writeFileSync(join(folder, 'tasks.yaml'), tasks);
}

async function validate({
  env = { PATH: process.env.PATH },
  ...options
}: ValidateConfigOptions & { env?: NodeJS.ProcessEnv } = {}) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const code = await validateConfigCommand(
    { config: 'whetstone.yaml', ...options },
    { stdout, stderr },
    { cwd: folder, env },
  );
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}

describe('validateConfigCommand', () => {
  it('says that the module of an agent is not loaded', async () => {
    write(CONFIG.replace('command: "FOO=1 sh agent.sh"', 'module: ./agent.ts'));
    writeFileSync(join(folder, 'agent.ts'), 'throw new Error("loaded");\n');
    const { code, out } = await validate({ checkAgents: true });
    expect(code).toBe(0);
    expect(out).toContain(
      'agents.shell.module: not checked: only a run loads the module, which runs its code\n',
    );
  });

  it('warns of overlays that change what an agent reads without saying so', async () => {
    writeFileSync(join(folder, 'repo/CLAUDE.md'), 'Old.\n');
    git('add', '-A');
    commit();
    writeFileSync(join(folder, 'new.md'), 'New.\n');
    const overlay = '{overlays: [{source: new.md, target: AGENTS.md}]}';
    write(
      CONFIG.replace(/agents:\n.*\n/, 'agents: {claude: {kind: claude-code}}\n').replace(
        'other: ',
        `other: ${overlay}`,
      ),
    );
    const { code, err } = await validate();
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(
        /^whetstone\.yaml:3:\d+ {2}warning variants\.other\.overlays: claude does not read the AGENTS\.md of the variant other: CLAUDE\.md hides it/,
      ),
    });
  });

  it('prints a summary of a valid config', async () => {
    write();
    expect(await validate()).toEqual({
      code: 0,
      out: [
        'Config valid: whetstone.yaml',
        `Repo: ${join(folder, 'repo')} at HEAD`,
        'Agents: shell (custom)',
        'Tasks: one',
        'Variants: baseline (baseline), other',
        'Sandbox: process, level 0 (auto). Not sealed: The agent shell does not use a gateway, so it needs the network to reach its model.',
        'Withheld from every case: .whetstone (runs)',
        'Weak verdict, by exit codes only: one (validation.tests: docs/hidden-tests.md)',
        '',
      ].join('\n'),
      err: '',
    });
  });

  it('prints warnings and stays at 0', async () => {
    write(`${CONFIG}basline: other\n`);
    const { code, out, err } = await validate();
    expect(code).toBe(0);
    expect(out).toContain('Config valid');
    expect(err).toContain('whetstone.yaml:6:1  warning basline: unknown key');
  });

  it('prints every error and exits with 2', async () => {
    write(CONFIG.replace('custom', 'costum'), 'tasks:\n  - {id: 1, prompt: x}\n');
    const { code, out, err } = await validate();
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('whetstone.yaml:3:17  agents.shell.kind: unknown value "costum"');
    expect(err).toContain('tasks.yaml:2:10  tasks[0].id: expected text, got the number 1');
    expect(err).toMatch(/\n2 errors\n$/);
  });

  it('prints one JSON object', async () => {
    write(`${CONFIG}basline: other\n`);
    const { out, err } = await validate({ json: true, checkAgents: true });
    expect(err).toBe('');
    expect(JSON.parse(out)).toMatchObject({
      valid: true,
      repo: { path: join(folder, 'repo'), base_ref: 'HEAD' },
      agents: [{ name: 'shell', kind: 'custom' }],
      tasks: ['one'],
      variants: ['baseline', 'other'],
      baseline: 'baseline',
      diagnostics: [{ severity: 'warning', line: 6, column: 1, path: 'basline' }],
      executables: [{ kind: 'found', executable: 'sh', path: ['agents', 'shell', 'command'] }],
    });
    write('- x\n');
    expect(JSON.parse((await validate({ json: true })).out)).toMatchObject({
      valid: false,
      diagnostics: [{ severity: 'error' }],
    });
  });

  it('looks for the programs of agents when asked to, and runs none', async () => {
    write(CONFIG.replace('FOO=1 sh', 'no-such-agent'));
    expect((await validate()).code).toBe(0);
    const { code, err } = await validate({ checkAgents: true });
    expect(code).toBe(2);
    expect(err).toContain('whetstone.yaml:3:35  agents.shell.command: no-such-agent is not on the PATH');
  });
});

describe('validateConfigCommand --strict', () => {
  /** The lines that name a place, without the frames. */
  async function findings(options: Parameters<typeof validate>[0] = {}): Promise<string[]> {
    const { err } = await validate({ strict: true, ...options });
    return err.split('\n').filter((line) => /^\S+:\d+:\d+ /.test(line));
  }

  it('accepts a good repository and writes nothing into it', async () => {
    write(CONFIG, 'tasks:\n  - {id: one, prompt: Do it, repo_ref: main}\n');
    commit();
    const before = snapshot(join(folder, 'repo'));
    expect(await validate({ strict: true })).toMatchObject({ code: 0, err: '' });
    expect(snapshot(join(folder, 'repo'))).toEqual(before);
  });

  it('asks for a repository', async () => {
    write();
    rmSync(join(folder, 'repo/.git'), { recursive: true });
    expect(await findings()).toEqual([
      expect.stringMatching(
        /^whetstone.yaml:1:14 {2}repo.path: is not a Git repository \(.*not a git repository/,
      ),
    ]);
  });

  it('asks for a commit', async () => {
    write();
    expect(await findings()).toEqual(['whetstone.yaml:1:14  repo.path: the repository has no commit yet']);
  });

  it('refuses a bare repository and a folder inside one', async () => {
    write(CONFIG.replace('path: repo', 'path: repo/.git'));
    commit();
    expect(await findings()).toHaveLength(1);
    mkdirSync(join(folder, 'repo/sub'));
    write(CONFIG.replace('path: repo', 'path: repo/sub'));
    expect(await findings()).toEqual([
      `whetstone.yaml:1:14  repo.path: is a folder inside the repository ${join(folder, 'repo')}`,
    ]);
    execFileSync('git', ['init', '-q', '--bare', join(folder, 'bare')]);
    write(CONFIG.replace('path: repo', 'path: bare'));
    expect(await findings()).toEqual(['whetstone.yaml:1:14  repo.path: is a bare Git repository']);
  });

  it('resolves every ref, and takes no ref for an option', async () => {
    commit();
    write(CONFIG.replace('path: repo', 'path: repo, base_ref: "--all"'));
    expect(await findings()).toEqual([
      'whetstone.yaml:1:30  repo.base_ref: does not resolve to a commit: --all',
    ]);
    write(
      CONFIG,
      'tasks:\n  - {id: one, prompt: x, repo_ref: nope}\n  - {id: two, prompt: x, repo_ref: main}\n',
    );
    expect(await findings()).toEqual([
      'tasks.yaml:2:36  tasks[one].repo_ref: does not resolve to a commit: nope',
    ]);
  });

  it('ignores a GIT_DIR of its environment', async () => {
    write();
    commit();
    process.env.GIT_DIR = join(folder, 'nowhere');
    try {
      expect((await validate({ strict: true })).code).toBe(0);
    } finally {
      delete process.env.GIT_DIR;
    }
  });

  it('asks for portable task ids', async () => {
    commit();
    const ids = ['a b', 'a.', '-x', 'con', 'Nul.txt', 'ü', 'fine_1.2-x'];
    write(CONFIG, `tasks:\n${ids.map((id) => `  - {id: "${id}", prompt: x}\n`).join('')}`);
    expect(await findings()).toEqual([
      'tasks.yaml:2:10  tasks[a b].id: is not portable as a file name',
      'tasks.yaml:3:10  tasks[a.].id: is not portable as a file name',
      'tasks.yaml:4:10  tasks[-x].id: is not portable as a file name',
      'tasks.yaml:5:10  tasks[con].id: is reserved for a device on Windows',
      'tasks.yaml:6:10  tasks[Nul.txt].id: is reserved for a device on Windows',
      'tasks.yaml:7:10  tasks[ü].id: is not portable as a file name',
    ]);
  });

  it('warns of a protected path that the commit does not have', async () => {
    write(CONFIG, 'tasks:\n  - {id: one, prompt: x, protected_paths: [tests/, src, "*.txt"]}\n');
    mkdirSync(join(folder, 'repo/src'));
    writeFileSync(join(folder, 'repo/src/a.js'), '');
    git('add', '.');
    commit();
    expect(await findings()).toEqual([
      'tasks.yaml:2:44  tasks[one].protected_paths[0]: matches no file of the tree',
      expect.stringContaining('tasks[one].protected_paths[2]'),
    ]);
  });

  it('warns of a removal that removes nothing from the tree of any task', async () => {
    const variant = '    overlays: [{remove: [README.md, docs, AGENTS.md]}, {remove: [notes/new.md]}]\n';
    write(
      CONFIG.replace('variants: {baseline: , other: }', `variants:\n  baseline: {}\n  without:\n${variant}`),
      'tasks:\n  - {id: one, prompt: x, overlays: [{source: repo/docs, target: notes}]}\n',
    );
    mkdirSync(join(folder, 'repo/docs'));
    writeFileSync(join(folder, 'repo/docs/new.md'), '');
    writeFileSync(join(folder, 'repo/README.md'), '');
    git('add', '.');
    commit();
    expect(await findings()).toEqual([
      'whetstone.yaml:7:43  warning variants.without.overlays[0].remove[2]: no tree of a task has AGENTS.md',
    ]);
  });

  it('asks for the variables that agents take from the environment', async () => {
    commit();
    write(
      CONFIG.replace('"FOO=1 sh agent.sh"}', '"sh x", env: {A: "${SET_KEY}", B: "x ${UNSET_KEY}"}}').replace(
        'agents:\n',
        'agents:\n  loop: {kind: loop, profile: openai}\n',
      ),
    );
    const env = { PATH: process.env.PATH, SET_KEY: 'secret' };
    expect(await findings({ env })).toEqual([
      'whetstone.yaml:3:3  agents.loop.api_key_env: the environment variable OPENAI_API_KEY is not set',
      'whetstone.yaml:4:68  agents.shell.env.B: the environment variable UNSET_KEY is not set',
    ]);
    expect(
      (await validate({ strict: true, env: { ...env, UNSET_KEY: 'x', OPENAI_API_KEY: 'x' } })).code,
    ).toBe(0);
  });

  it('looks for the programs of validation commands', async () => {
    commit();
    write(
      CONFIG.replace('"true"', '"true", "no-such-tool x", [./made-by-setup.sh]'),
      'tasks:\n  - {id: one, prompt: x}\n  - {id: two, prompt: x, validation: {commands: ["other-tool"]}}\n',
    );
    expect(await findings()).toEqual([
      'whetstone.yaml:5:33  evaluation.commands[1]: no-such-tool is not on the PATH',
      expect.stringMatching(
        /^whetstone.yaml:5:51 {2}warning evaluation.commands\[2\]: .*made-by-setup.sh is not an executable/,
      ),
      'tasks.yaml:3:50  tasks[two].validation.commands[0]: other-tool is not on the PATH',
    ]);
  });
});

/** Every file below a folder with its size and time of change. */
function snapshot(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name} ${statSync(join(root, name)).size} ${statSync(join(root, name)).mtimeMs}`)
    .sort();
}
