import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, expect, test, vi } from 'vitest';
import { makeHistory } from '../tasks/__fixtures__/history.ts';
import { START, testOf } from '../tasks/__fixtures__/small-project.ts';
import { BIN, eventually, makeProject, processesWith } from './__fixtures__/project.ts';

const NAMES = ['one', 'two', 'three', 'four'];
/** A busy machine mines slowly. */
const DEADLINE_MS = 240_000;
vi.setConfig({ testTimeout: DEADLINE_MS });

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

/** A client of the server that a coding agent would start, in a bare repository. */
async function connect(folder: string, env: NodeJS.ProcessEnv) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp'],
    cwd: folder,
    env: env as Record<string, string>,
    stderr: 'inherit',
  });
  const client = new Client({ name: 'scripted-agent', version: '1' });
  await client.connect(transport);
  undo.push(() => client.close());
  let calls = 0;
  const raw = async (name: string, input: object = {}) => {
    calls += 1;
    const { content, isError } = await client.callTool(
      { name, arguments: { ...input } },
      { timeout: DEADLINE_MS },
    );
    const [first] = content as { text: string }[];
    return { isError: isError === true, text: first?.text ?? '' };
  };
  return {
    client,
    transport,
    raw,
    calls: () => calls,
    call: async (name: string, input: object = {}) => {
      const { text, isError } = await raw(name, input);
      expect(isError, text).toBe(false);
      return JSON.parse(text);
    },
  };
}

function bareRepository(): string {
  const repo = makeHistory([
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
  undo.push(() => rmSync(repo, { recursive: true, force: true }));
  return repo;
}

test('a scripted agent goes from a bare repository to a verdict and its reasons in at most 12 calls', async () => {
  const project = makeProject();
  undo.push(() => project[Symbol.dispose]());
  const repo = bareRepository();
  const { call, calls, client } = await connect(repo, project.environment);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(
    ['compare', 'job', 'list_runs', 'mine_tasks', 'plan', 'read_case', 'read_run', 'run', 'stop_job'].sort(),
  );

  const untilDone = async (job: { job_id: string; state: string }): Promise<Record<string, never>> => {
    let now: { job_id: string; state: string; result?: never } = job;
    while (now.state === 'running') now = await call('job', { job_id: job.job_id });
    return now.result ?? {};
  };
  await untilDone(await call('mine_tasks', { limit: 4 }));
  expect(existsSync(join(repo, 'tasks/mined'))).toBe(true);
  writeFileSync(join(repo, 'AGENTS.md'), 'Apply the patch.\n');
  const question = {
    path: 'AGENTS.md',
    agent_command: `test -e AGENTS.md || exit 0; git apply ${repo}/tasks/mined/{task_id}/gold.patch`,
    trials: 1,
  };
  const { result } = await call('plan', question);
  expect(result.plan).toMatchObject({ cases: 8, baseline: 'without', problems: [] });
  const ran = await untilDone(await call('run', question));
  expect(ran).toMatchObject({ summary: { comparisons: [{ verdict: 'better', difference: 1, tasks: 4 }] } });

  const read = await call('read_run');
  expect(read.headline).toContain('with against without: better');
  expect(read).not.toHaveProperty('cells');
  const compared = await call('compare', { a: 'without', b: 'with' });
  expect(compared.pairs[0].tasks_that_differ.shown).toHaveLength(4);
  const [failed] = read.not_passed[0].cases;
  const why = await call('read_case', { case_id: failed.case_id });
  expect(why).toMatchObject({ outcome: 'failed', exit_code: 1, command: expect.stringContaining('test') });
  expect(calls()).toBeLessThanOrEqual(12);
});

test('answers to wrong calls say what to do, and the server goes on', async () => {
  const project = makeProject();
  undo.push(() => project[Symbol.dispose]());
  const { raw, call } = await connect(project.root, project.environment);
  for (const [name, input, said] of [
    ['job', { job_id: 'job-9' }, 'No job was started'],
    ['read_case', { case_id: 'x' }, 'There is no run latest'],
    ['run', { model: 'gpt' }, 'model only apply with path'],
    ['run', { trails: 5 }, 'trails'],
    ['plan', { path: '--help' }, 'This file or folder does not exist'],
  ] as const) {
    const answer = await raw(name, input);
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toContain(said);
  }
  expect(await call('list_runs')).toBeDefined();
  // As clients that call tools at the same time do.
  await Promise.all([call('list_runs'), call('list_runs'), call('list_runs')]);
});

test('a job and its agents end with stop_job, and with a server that gets SIGKILL', async () => {
  const project = makeProject({ agents: { sleeper: 'touch "$NOTES/started"; exec sleep 4242.17' } });
  undo.push(() => project[Symbol.dispose]());
  const { call, raw, transport } = await connect(project.root, project.environment);
  const started = async () => {
    rmSync(join(project.notes, 'started'), { force: true });
    const job = await call('run', { wait_seconds: 0 });
    expect(job).toMatchObject({ state: 'running' });
    await eventually('the agent', () => existsSync(join(project.notes, 'started')), DEADLINE_MS);
    expect(await call('list_runs')).toBeDefined(); // what only reads does not wait for a job
    return job;
  };
  const ended = async () => {
    await eventually('the end of the agent', () => processesWith('4242.17').length === 0, DEADLINE_MS);
    await eventually('the end of the run', () => processesWith(`${BIN}\0run`).length === 0, DEADLINE_MS);
  };
  const { job_id } = await started();
  expect((await raw('run')).text).toContain('Job job-1 runs');
  expect(await call('stop_job', { job_id })).toMatchObject({ state: 'stopped' });
  await ended();
  await started();
  process.kill(transport.pid ?? 0, 'SIGKILL');
  await ended();
});
