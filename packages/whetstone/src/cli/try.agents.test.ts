import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cacheFolder } from '../../../../examples/real-agents/install.ts';
import { makeRepo } from '../workspace/__fixtures__/test-repo.ts';
import { runCommandLine } from './__fixtures__/command-line.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

const installed = { XDG_CACHE_HOME: cacheFolder };
const IDS = ['a', 'b', 'c', 'd'];

let project: Project;
let repo: string;
beforeAll(() => {
  project = makeProject();
  repo = makeRepo({
    'README.md': 'A project.\n',
    ...Object.fromEntries(
      IDS.map((id) => [
        `tasks/mined/${id}/task.yaml`,
        `id: ${id}\nprompt: Write the answer.\nvalidation: { commands: ["test -f answer.txt"] }\n`,
      ]),
    ),
  });
  writeFileSync(join(repo, 'AGENTS.md'), 'The answer goes into answer.txt.\n');
  // The model follows the rule when it reads it.
  project.write({
    'script.yaml': `name: follows
rules:
  - when: { text_contains: 'The answer goes into answer.txt' }
    steps:
      - calls: [{ tool: shell, command: 'echo 42 > answer.txt' }]
      - text: Done.
default:
  - text: I do not know where.
`,
    'whetstone.yaml': `
repo: { path: ${repo} }
agents: { codex: { kind: codex-cli, timeout_minutes: 2 } }
tasks: tasks.yaml
variants: { own: {} }
gateway: { mode: script, script: script.yaml }
output_dir: runs
`,
    'tasks.yaml': `include: [${repo}/tasks/mined]\n`,
  });
});
afterAll(() => {
  project[Symbol.dispose]();
  rmSync(repo, { recursive: true });
});

test('a released agent, with and without the file', async () => {
  const file = join(repo, 'AGENTS.md');
  const { exitCode, stdout, stderr } = await project.whetstone(
    ['try', file, '--trials', '1', '--jobs', '2', '--yes', '--json'],
    installed,
  );
  expect(exitCode, stderr).toBe(0);
  const { plan, summary } = JSON.parse(stdout);
  expect(plan).toMatchObject({ agents: ['codex'], cases: 8, per_case: [{ no_cost_because: 'script' }] });
  expect(summary.comparisons).toMatchObject([{ difference: 1, verdict: 'better' }]);
});

test('without a config, an agent that is installed, reads the file and can sign in', async () => {
  const { exitCode, stdout, stderr } = await runCommandLine({
    args: ['try', 'AGENTS.md', '--dry-run', '--json', '--model', 'gpt-5.1-codex'],
    cwd: repo,
    env: {
      ...project.environment,
      ...installed,
      OPENAI_API_KEY: 'x',
      ANTHROPIC_API_KEY: 'x',
      GEMINI_API_KEY: 'x',
    },
  });
  expect(exitCode, stderr).toBe(0);
  const { plan } = JSON.parse(stdout);
  expect(plan).toMatchObject({
    agents: ['codex-cli'],
    per_case: [
      {
        earlier_cases: 0,
        list_price_usd_per_million: { model: 'gpt-5.1-codex', input: 1.25, output: 10 },
      },
    ],
  });
  const because = new Map(
    plan.other_agents.map(({ name, because }: { name: string; because: string }) => [name, because]),
  );
  expect(because.get('pi')).toBe('--agent pi adds it');
  expect(because.get('gemini-cli')).toBe('does not read AGENTS.md');
});
