import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { StreamEvent } from '@whetstone/events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  eventually,
  makeProject,
  type Project,
  processesWith,
  readLines,
} from '../cli/__fixtures__/project.ts';
import type { JournalEntry } from '../record/journal.ts';
import type { CaseRow } from '../record/row.ts';

const GEMINI_STREAM = [
  { type: 'init', session_id: 's', model: 'gemini-2.5-pro' },
  { type: 'tool_use', tool_name: 'write_file', tool_id: '1', parameters: { file_path: 'DONE' } },
  { type: 'tool_result', tool_id: '1', status: 'success' },
  { type: 'result', status: 'success', stats: {} },
]
  .map((item) => `${JSON.stringify(item)}\n`)
  .join('');

describe('outcomes of agents', () => {
  let project: Project;
  let rows: ReadonlyMap<string, CaseRow>;
  const fileOf = (agent: string, name: string) =>
    join(project.latest().directory, 'cases', rows.get(agent)?.case_id ?? '', name);

  beforeAll(async () => {
    project = makeProject({
      tasks: [{ id: 'one', prompt: 'Make DONE.', validation: { commands: ['test -f DONE'] } }],
      agents: {
        works: { script: 'touch DONE', keys: { network: 'disabled' } },
        idles: 'echo I am finished.',
        exits: 'touch DONE; echo "no more tokens" >&2; exit 3',
        dies: 'touch DONE; kill -9 $$',
        'plays-missing': 'exit 127',
        'plays-refused': 'echo "unexpected status 429: no" >&2; exit 1',
        hangs: {
          script: `trap '' TERM; touch DONE; setsid -f sh -c "trap '' TERM; tail -f $NOTES" ; tail -f "$NOTES/hang"; tail -f "$NOTES/hang"`,
          keys: { timeout_seconds: 1 },
        },
        'is-latin': `printf 'caf\\351 \\377' ; printf '\\303' >&2; touch DONE "$(printf 'caf\\351')"`,
        // Gemini CLI does not report that a file is new, and no agent reports what its commands change.
        'says-modified': {
          script: `touch DONE by-command; cat "$NOTES/stream"`,
          keys: { kind: 'gemini-cli' },
        },
        // No system starts a program with a variable of that size.
        'has-too-much': { script: 'touch DONE', keys: { env: { BIG: 'x'.repeat(200_000) } } },
        'destroys-all': 'chmod -R 000 .; rm -rf "$PWD" "$2" "$HOME" "$TMPDIR" 2> /dev/null; true',
      },
    });
    project.write({ 'notes/hang': '', 'notes/stream': GEMINI_STREAM });
    expect(await project.whetstone(['run', '--jobs', '2'])).toMatchObject({ exitCode: 1 });
    rows = new Map(project.latest().rows.map((row) => [row.agent_name, row]));
  });
  afterAll(() => project[Symbol.dispose]());

  test.each<[string, Partial<CaseRow>]>([
    [
      'works',
      { outcome: 'passed', failure_class: null, evidence: null, status: 'completed', confidence: 'high' },
    ],
    [
      'idles',
      {
        outcome: 'failed',
        failure_class: 'agent',
        evidence: '`test -f DONE` exited 1',
        status: 'validation_failed',
      },
    ],
    [
      'exits',
      {
        outcome: 'failed',
        failure_class: 'agent',
        agent_exit_code: 3,
        status: 'agent_failed',
        validation_status: 'passed',
        evidence: 'the agent did not complete: The agent ended with exit code 3.',
      },
    ],
    ['dies', { outcome: 'failed', failure_class: 'agent', agent_exit_code: 137 }],
    ['plays-missing', { outcome: 'failed', failure_class: 'agent', agent_exit_code: 127 }],
    ['plays-refused', { outcome: 'failed', failure_class: 'agent' }],
    [
      'hangs',
      {
        outcome: 'failed',
        failure_class: 'timeout',
        evidence: 'The agent was stopped at its time limit.',
        timeout: true,
        status: 'timeout',
        validation_status: 'passed',
      },
    ],
    ['is-latin', { outcome: 'passed', touched_paths: ['DONE', 'caf\\xe9'] }],
    ['destroys-all', { outcome: 'failed', failure_class: 'agent', deletions: 2 }],
    ['has-too-much', { outcome: 'error', failure_class: 'sandbox', status: 'internal_error' }],
  ])('%s', (agent, expected) => {
    expect(rows.get(agent)).toMatchObject(expected);
  });

  test('the network is what was enforced, and not what the profile of the agent declares', () => {
    expect(rows.get('works')).toMatchObject({ network: 'open', network_declared: 'disabled' });
    expect(rows.get('idles')).not.toHaveProperty('network_declared');
    expect(JSON.parse(readFileSync(fileOf('works', 'agent.json'), 'utf8'))).toMatchObject({
      network: 'open',
    });
  });

  test('the host knows which files are new and which a command changed', () => {
    expect(JSON.parse(readFileSync(fileOf('says-modified', 'agent.json'), 'utf8'))).toMatchObject({
      fileChanges: [
        { path: 'DONE', change: 'added' },
        { path: 'by-command', change: 'added' },
      ],
      tools: [{ name: 'write_file' }],
      ...{ sandbox: 'process', approvalPolicy: 'unknown', runtimeVersion: 'unknown' },
    });
    const changes = readLines<StreamEvent>(fileOf('says-modified', 'events.jsonl'));
    expect(
      changes.flatMap((event) => (event.type === 'file.changed' ? [[event.source, event.change]] : [])),
    ).toEqual([
      ['agent', 'modified'],
      ['host', 'added'],
      ['host', 'added'],
    ]);
  });

  test('no process of an agent that hung is left', async () => {
    await eventually(
      'the end of the hanging processes',
      () => processesWith(join(project.notes)).length === 0,
    );
  });

  test('output is kept byte for byte', () => {
    expect(readFileSync(fileOf('is-latin', 'stdout.log'))).toEqual(Buffer.from('caf\xe9 \xff', 'latin1'));
    expect(readFileSync(fileOf('is-latin', 'stderr.log'))).toEqual(Buffer.from('\xc3', 'latin1'));
    expect(readFileSync(fileOf('exits', 'stderr.log'), 'utf8')).toBe('no more tokens\n');
  });
});

test.concurrent('a refusal of the provider is missing data, and one that may pass is retried once', async () => {
  await using provider = await startRefusingProvider();
  const refused = (status: number) => ({
    kind: 'loop',
    profile: 'openai',
    base_url: `${provider.url}/${status}/v1`,
    api_key_env: 'PROVIDER_CREDENTIAL',
  });
  using project = makeProject({
    config: {
      agents: {
        'is-missing': { kind: 'custom', command: ['{workspace}/no-such-program'] },
        'is-limited': refused(429),
        'is-down': refused(503),
        'is-forbidden': refused(401),
      },
    },
    tasks: [{ id: 'one', prompt: 'Make DONE.', validation: { commands: ['test -f DONE'] } }],
  });
  const env = { PROVIDER_CREDENTIAL: 'a-key-for-nobody' };
  expect(await project.whetstone(['run', '--jobs', '4'], env)).toMatchObject({ exitCode: 1 });
  const { rows, directory } = project.latest();
  expect(rows).toMatchObject([
    { agent_name: 'is-missing', outcome: 'error', failure_class: 'harness', agent_exit_code: 127 },
    { outcome: 'error', failure_class: 'provider-limit', retries: 1 },
    { outcome: 'error', failure_class: 'provider-outage', retries: 1 },
    { outcome: 'error', failure_class: 'harness', retries: 0 },
  ]);
  const journal = readLines<JournalEntry>(join(directory, 'journal.jsonl'));
  const retried = journal.flatMap((entry) => (entry.type === 'case.retried' ? [entry.class] : []));
  expect(retried.sort()).toEqual(['provider-limit', 'provider-outage']);
});

test.concurrent('failures that are not the agent’s have the class task or verifier', async () => {
  using project = makeProject({
    agents: { writer: 'echo started >> "$NOTES/starts"; touch DONE' },
    tasks: [
      { id: 'setup-fails', prompt: 'x', setup: ['echo no network; exit 4'] },
      {
        id: 'setup-works',
        prompt: 'x',
        setup: ['echo made > made.txt'],
        validation: { commands: ['test -f made.txt'] },
      },
      { id: 'no-verifier', prompt: 'x', validation: { commands: ['true', 'no-such-verifier --all'] } },
      { id: 'slow-verifier', prompt: 'x', validation: { commands: ['sleep 600'], timeout_seconds: 1 } },
    ],
  });
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 1 });
  const { rows, directory } = project.latest();
  expect(rows).toMatchObject([
    {
      outcome: 'error',
      failure_class: 'task',
      evidence:
        'setup: `echo no network; exit 4` exited 4 (no network)\nsetup/setup-0.stdout.log ends with:\nno network',
      agent_exit_code: null,
      status: 'workspace_failed',
    },
    { outcome: 'passed', touched_paths: ['DONE'] },
    { outcome: 'error', failure_class: 'verifier' },
    {
      outcome: 'failed',
      failure_class: 'agent',
      // The time that it took, which on a busy machine is more than the limit.
      evidence: expect.stringMatching(/^`sleep 600` was stopped after \d+ s$/),
    },
  ]);
  expect(rows[2]?.evidence).toMatch(/^`no-such-verifier --all` exited 127 .*: the command was not found/);
  expect(readFileSync(join(project.notes, 'starts'), 'utf8')).toBe('started\n'.repeat(3));
  const setupLog = join(directory, 'cases', rows[0]?.case_id ?? '', 'setup/setup-0.stdout.log');
  expect(readFileSync(setupLog, 'utf8')).toBe('no network\n');
});

test.concurrent('an agent that prints 300 MB in one line costs the harness no memory, and the log is cut', async () => {
  using project = makeProject({
    agents: { floods: "head -c 300000000 /dev/zero | tr '\\0' x; touch DONE" },
    tasks: [{ id: 'one', prompt: 'Make DONE.', validation: { commands: ['test -f DONE'] } }],
  });
  const run = project.start(['run']);
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, peakMemory(run.pid));
  }, 25);
  const { exitCode } = await run.finished.finally(() => clearInterval(sampling));
  expect(exitCode).toBe(0);
  expect(peak).toBeGreaterThan(20);
  expect(peak).toBeLessThan(400);
  const { directory, rows } = project.latest();
  const log = join(directory, 'cases', rows[0]?.case_id ?? '', 'stdout.log');
  expect(statSync(log).size).toBeLessThan(65 * 1024 * 1024);
  expect(readFileSync(log).subarray(-60).toString()).toMatch(
    /\n\[\d+ more bytes were printed and left out\]\n$/,
  );
});

/** In MiB; 0 when the process has ended. */
function peakMemory(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** A provider that answers with the status in the path, and with `retry-after: 0`. */
async function startRefusingProvider(): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const status = Number(request.url?.split('/')[1]);
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end('{"error":{"message":"no","type":"refused"}}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
