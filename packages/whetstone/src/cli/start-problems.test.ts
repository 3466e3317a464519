import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeProgram, makeProject, type Project } from './__fixtures__/project.ts';

/** What is missing, and what each command says of it. */
const MISSING: [what: string, config: Record<string, unknown>, says: string][] = [
  ['a program', agent({ kind: 'custom', command: 'no-such-agent' }), 'no-such-agent is not on the PATH'],
  ['a released agent', agent({ kind: 'qwen-code' }), 'qwen is not on the PATH, and not installed'],
  [
    'a variable',
    agent({ kind: 'custom', command: 'true', env: { A: `\${${'NOT_SET_HERE'}}` } }),
    'NOT_SET_HERE, which your environment does not set',
  ],
  ['the key of the loop', agent({ kind: 'loop', profile: 'openai' }), 'OPENAI_API_KEY'],
  ['the key of a released agent', agent({ kind: 'codex-cli' }), 'OPENAI_API_KEY is not set'],
  [
    'a gateway of a sealed agent',
    { ...agent({ kind: 'codex-cli' }), sandbox: 'bubblewrap' },
    'The agent mine does not use a gateway, and reaches nothing else from the sandbox bubblewrap',
  ],
  ['the model of an agent that has none', agent({ kind: 'copilot' }), 'The agent mine names no model'],
  [
    'a login',
    { ...agent({ kind: 'codex-cli', auth: 'login' }), gateway: { mode: 'forward' } },
    'The agent mine has no login that a case can use',
  ],
  [
    'every provider',
    { ...agent({ kind: 'codex-cli' }), gateway: { mode: 'forward' } },
    'No provider is named, and no key of one is set',
  ],
  [
    'the provider that the agent calls',
    {
      ...agent({ kind: 'codex-cli' }),
      gateway: { mode: 'forward', upstreams: { anthropic: { key_env: 'PATH_OF_NOTES' } } },
    },
    'The agent mine calls openai, and the gateway has no upstream for it',
  ],
  [
    'a file of a key',
    {
      ...agent({ kind: 'codex-cli' }),
      gateway: { mode: 'forward', upstreams: { openai: { key_file: 'nowhere' } } },
    },
    'nowhere": the file cannot be read (ENOENT)',
  ],
  [
    'a variable of a key',
    {
      ...agent({ kind: 'codex-cli' }),
      gateway: { mode: 'forward', upstreams: { openai: { key_env: 'NO_KEY' } } },
    },
    'The provider\'s key from env "NO_KEY": the variable is not set',
  ],
];

function agent(keys: Record<string, unknown>): Record<string, unknown> {
  return { agents: { mine: keys } };
}

/** A machine with `codex`, and nothing in its cache. */
function machine(project: Project): NodeJS.ProcessEnv {
  const bin = join(project.root, 'bin');
  for (const program of ['codex', 'copilot']) makeProgram(join(bin, program), 'exit 1');
  return {
    PATH: `${bin}:${process.env.PATH}`,
    XDG_CACHE_HOME: project.root,
    CODEX_HOME: project.root,
    PATH_OF_NOTES: 'key',
  };
}

const asOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

describe('dry-run, validate-config --check-agents and run name what is missing in the same words', () => {
  test.concurrent.each(MISSING)('%s', async (_, config, says) => {
    using project = makeProject({ config });
    const env = machine(project);
    const dry = await project.whetstone(['run', '--dry-run'], env);
    expect(asOneLine(dry.stderr)).toContain(says);
    expect(dry.stdout).toContain('Nothing was started.\nA run would not start either: ');
    const json = JSON.parse((await project.whetstone(['run', '--dry-run', '--json'], env)).stdout);
    expect(asOneLine(JSON.stringify(json.problems)).replaceAll('\\"', '"')).toContain(says);
    const validated = await project.whetstone(['validate-config', '--check-agents'], env);
    expect(asOneLine(validated.stderr)).toContain(says);
    const run = await project.whetstone(['run'], env);
    expect(asOneLine(run.stderr)).toContain(says);
    expect(project.runDirectories()).toEqual([]);
    expect([dry, validated, run].map(({ exitCode }) => exitCode)).toEqual([2, 2, 2]);
  });
});

test('every problem of an agent is said at once', async () => {
  const env = { A: `\${${'NOT_SET_HERE'}}` };
  using project = makeProject({ config: agent({ kind: 'copilot', env }) });
  const settings = { PATH: '/usr/bin:/bin', XDG_CACHE_HOME: project.root };
  const { stderr } = await project.whetstone(['validate-config', '--check-agents'], settings);
  const expected = [
    'NOT_SET_HERE, which',
    'copilot is not on the PATH',
    'names no model',
    'OPENAI_API_KEY is not set',
  ];
  for (const says of expected) expect(asOneLine(stderr)).toContain(says);
  expect(stderr).toContain('4 errors');
});

test('where nothing is missing, they say so', async () => {
  using project = makeProject({ config: { ...agent({ kind: 'codex-cli' }), gateway: { mode: 'forward' } } });
  const env = { ...machine(project), OPENAI_API_KEY: 'key' };
  expect(await project.whetstone(['run', '--dry-run'], env)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await project.whetstone(['validate-config', '--check-agents'], env)).toMatchObject({ exitCode: 0 });
});

test('agents that are not selected lack nothing', async () => {
  using project = makeProject({
    config: { agents: { here: { kind: 'custom', command: 'true' }, gone: { kind: 'qwen-code' } } },
  });
  const args = ['run', '--dry-run', '--agent', 'here'];
  expect(await project.whetstone(args, machine(project))).toMatchObject({ exitCode: 0, stderr: '' });
});

test('a recording that is missing, or that a run would replace, is named by the dry run', async () => {
  using project = makeProject();
  project.write({ 'cassettes/other.jsonl': '' });
  project.writeConfig({ gateway: { mode: 'replay', cassettes: 'cassettes' } });
  const { stderr, exitCode } = await project.whetstone(['run', '--dry-run']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('2 cases have no recording.');
});

test('an output folder that cannot be made ends a run at once', async () => {
  using project = makeProject({
    config: { ...agent({ kind: 'custom', command: 'true' }), output_dir: '/proc/x' },
  });
  const { stderr, exitCode } = await project.whetstone(['run']);
  expect(exitCode).toBe(2);
  expect(asOneLine(stderr)).toContain('/proc/x: The output folder cannot be written');
});
