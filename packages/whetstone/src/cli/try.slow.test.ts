import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeHistory } from '../tasks/__fixtures__/history.ts';
import { START, testOf } from '../tasks/__fixtures__/small-project.ts';
import { runGit } from '../workspace/__fixtures__/test-repo.ts';
import { BIN, eventually, makeProject, type Project, runDirectories } from './__fixtures__/project.ts';

const NAMES = ['one', 'two', 'three', 'four'];

/** A busy machine mines slowly. */
const DEADLINE_MS = 240_000;
vi.setConfig({ testTimeout: DEADLINE_MS });

let project: Project;
let repo: string;
beforeAll(() => {
  project = makeProject();
  repo = makeHistory([
    START,
    ...NAMES.map((name) => ({
      message: `Add ${name}`,
      files: { [`src/${name}.js`]: 'export default 0;\n' },
    })),
    ...NAMES.map((name, index) => ({
      message: `Count to ${name}`,
      files: {
        [`src/${name}.js`]: `export default ${index + 1};\n`,
        [`test/${name}.test.js`]: testOf(name, `assert.equal(it, ${index + 1});`),
      },
    })),
  ]);
  writeFileSync(join(repo, 'AGENTS.md'), 'Apply the patch.\n');
});
afterAll(() => {
  project[Symbol.dispose]();
  rmSync(repo, { recursive: true, force: true });
});

/** Works only where its instructions say so. */
const agent = () =>
  `test -e AGENTS.md || exit 0; touch ${project.notes}/started; test ! -e ${project.notes}/hang || sleep 600; git apply ${repo}/.whetstone/try/tasks/{task_id}/gold.patch`;

const tried = (...args: string[]) => ['try', 'AGENTS.md', '--agent-command', agent(), ...args];

/** In a process of its own, in the repository. */
async function start(args: readonly string[], interruptAt?: string) {
  const child = spawn(process.execPath, [BIN, ...args], { cwd: repo, env: project.environment });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const closed = once(child, 'close');
  if (interruptAt !== undefined) {
    await eventually(interruptAt, () => existsSync(interruptAt), DEADLINE_MS);
    child.kill('SIGINT');
  }
  const [exitCode] = await closed;
  return { exitCode, stdout, stderr };
}

const latestRun = () => runDirectories(join(repo, '.whetstone/runs')).at(-1) ?? '';

test('one command from a repository to the answer: it mines, plans, runs and says the verdict', async () => {
  const { exitCode, stdout, stderr } = await start(tried('--trials', '1', '--yes', '--json'));
  expect(exitCode, stderr).toBe(0);
  const { plan, summary } = JSON.parse(stdout);
  expect(plan.tasks.map((id: string) => id.replace(/-[0-9a-f]+$/, '')).sort()).toEqual([
    'count-to-four',
    'count-to-one',
    'count-to-three',
    'count-to-two',
  ]);
  expect(plan).toMatchObject({
    ...{ cases: 8, cases_missing: 8, agents: ['my-agent'], baseline: 'without' },
    per_case: [{ earlier_cases: 0, seconds: null, cost_usd: null }],
    options: [{ trials: 1, cases: 8, seconds: null, smallest_difference: 1 }, {}, {}],
  });
  expect(summary.comparisons).toMatchObject([
    { variant: 'with', difference: 1, verdict: 'better', tasks: 4 },
  ]);
  // AGENTS.md is not in a commit, but it was not left out.
  expect(summary.caveats.join()).not.toContain('uncommitted');
  expect(runGit(repo, ['status', '--porcelain', '--', ':!.whetstone'])).toBe('?? AGENTS.md\n');
});

test('the next plan knows from the ledger what a case takes; what was written runs by itself', async () => {
  const { exitCode, stdout } = await start(tried('--dry-run'));
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /my-agent: [\d.]+ s per case, as in 8 earlier cases of these tasks; what they cost is not known\./,
  );
  expect(stdout).toMatch(/^> +3 +24 +unknown +[\d.]+ m?s/m);
  const again = await start(['run', '-c', '.whetstone/try/AGENTS.md/whetstone.yaml', '--dry-run']);
  expect(again.stdout).toContain('8 cases: 1 agent × 4 tasks × 2 variants × 1 trial');
});

test('Ctrl-C keeps what has finished, and the same command resumes it', async () => {
  writeFileSync(join(project.notes, 'hang'), '');
  rmSync(join(project.notes, 'started'));
  const stopped = await start(tried('--trials', '1', '--yes'), join(project.notes, 'started'));
  expect(stopped.exitCode).toBe(130);
  const [, id = ''] = /Resume with the same command and --resume (\S+)\n/.exec(stopped.stderr) ?? [];
  expect(latestRun()).toContain(id);
  rmSync(join(project.notes, 'hang'));
  const { exitCode, stdout, stderr } = await start(tried('--yes', '--resume', id));
  expect(exitCode, stderr).toBe(0);
  expect(stderr).toMatch(/8 cases: .* × 1 trial(; [1-7] of them are missing)?\n/);
  expect(stdout).toContain('with against without: better: +100 pp');
  expect(stdout).toContain('To go on from here: whetstone run -c .whetstone/try/AGENTS.md/whetstone.yaml\n');
  expect(readFileSync(join(latestRun(), 'results.jsonl'), 'utf8').trim().split('\n')).toHaveLength(8);
});

test.skipIf(spawnSync('script', ['--version']).status !== 0)(
  'on a terminal it asks, and can run one case of each agent first',
  { tags: 'script' },
  async () => {
    rmSync(join(repo, '.whetstone/runs'), { recursive: true });
    const command = [process.execPath, BIN, ...tried()].map((part) => `'${part}'`).join(' ');
    const child = spawn('script', ['-qefc', `stty cols 120 rows 40; exec ${command}`, '/dev/null'], {
      ...{ cwd: repo, env: { ...project.environment, TERM: 'xterm' }, stdio: ['pipe', 'pipe', 'inherit'] },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const closed = once(child, 'close');
    await eventually('the question', () => output.includes('Run it? [y/f/N] '), DEADLINE_MS);
    child.stdin.write('f\n');
    await eventually('the second question', () => output.includes('Run it? [y/N] '), DEADLINE_MS);
    child.stdin.write('n\n');
    const [exitCode] = await closed;
    expect(exitCode).toBe(130);
    const text = stripVTControlCharacters(output);
    expect(text).toContain('f runs one case of each agent first, to see what it costs.');
    expect(text).toMatch(/my-agent: [\d.]+ s per case, as in 1 earlier case of these tasks/);
    expect(text.trimEnd().endsWith('Nothing was run.')).toBe(true);
  },
);
