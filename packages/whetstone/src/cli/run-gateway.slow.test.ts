import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGateway, defineScript, type Gateway, type Lane } from '@whetstone/gateway';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { everything, makeProject, type Project, readLines } from './__fixtures__/project.ts';

/** Writes DONE, looks at it, and is done. */
const script = defineScript({
  name: 'provider',
  play({ step }) {
    if (step === 0) return { calls: [{ tool: 'write', path: 'DONE', content: 'done\n' }] };
    if (step === 1) return { calls: [{ tool: 'shell', command: 'cat DONE; pwd; env' }] };
    return { text: 'It is done.' };
  },
});

/** Plays the provider: its key is the real one. */
let provider: Gateway;
beforeAll(async () => {
  provider = await createGateway();
});
afterAll(() => provider.close());

let project: Project;
afterEach(() => project[Symbol.dispose]());

const loop = (profile: string) => ({ kind: 'loop', profile });
const TASK = { id: 'one', prompt: 'Make DONE.', validation: { commands: ['test -f DONE'] } };

/** The user's own environment: real keys and where they lead. */
const userEnvironment = (lane: Lane) => ({
  ANTHROPIC_API_KEY: lane.key,
  OPENAI_API_KEY: lane.key,
  GEMINI_API_KEY: lane.key,
});
const upstreamsOf = (lane: Lane) => ({
  anthropic: { url: lane.baseUrl },
  openai: { url: `${lane.baseUrl}/v1` },
  google: { url: lane.baseUrl },
});

/** A project whose gateway leads to a provider's lane. */
async function started(
  gateway: (upstream: Lane) => Record<string, unknown>,
  agents: Record<string, unknown> = { anthropic: loop('anthropic') },
): Promise<Lane> {
  const lane = await provider.open({ owner: 'upstream', mode: { kind: 'script', script } });
  project = makeProject({ tasks: [TASK], config: { agents, gateway: gateway(lane), seed: 'fixed' } });
  return lane;
}

test('forward: calls are counted and priced on the wire, and the real key stays with us', async () => {
  const lane = await started((upstream) => ({ mode: 'forward', upstreams: upstreamsOf(upstream) }), {
    openai: loop('openai'),
    anthropic: loop('anthropic'),
    gemini: loop('gemini'),
  });
  expect(await project.whetstone(['run'], userEnvironment(lane))).toMatchObject({ exitCode: 0 });
  const { rows, directory } = project.latest();
  expect(rows.map((row) => [row.agent_name, row.outcome, row.usage_source, row.model_calls])).toEqual([
    ['openai', 'passed', 'gateway', 3],
    ['anthropic', 'passed', 'gateway', 3],
    ['gemini', 'passed', 'gateway', 3],
  ]);
  const given = lane.ledger.flatMap(({ usage }) => usage?.inputTokens ?? 0).reduce((a, b) => a + b, 0);
  expect(rows.reduce((sum, row) => sum + (row.input_tokens ?? 0), 0)).toBe(given);
  for (const row of rows) expect(row.cost_usd).toBeGreaterThan(0);
  expect(everything(directory).includes(lane.key)).toBe(false);
});

test('record, and replay without a provider: the same again', async () => {
  const lane = await started((upstream) => ({
    mode: 'record',
    cassettes: 'cassettes',
    upstreams: upstreamsOf(upstream),
    allow_provider_tools: ['web_search'],
  }));
  expect(await project.whetstone(['run'], userEnvironment(lane))).toMatchObject({ exitCode: 0 });
  const recorded = project.latest().rows[0];
  expect(recorded?.network).toBe('open, provider-tools');
  expect(project.latest().manifest.isolation.network).toBe('open, provider-tools');
  const calls = lane.ledger.length;
  expect(readdirSync(join(project.root, 'cassettes'))).toEqual([`${recorded?.case_id}.jsonl`]);
  expect(everything(join(project.root, 'cassettes')).includes(lane.key)).toBe(false);

  const again = await project.whetstone(['run'], userEnvironment(lane));
  expect(again).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('have a recording already') });

  project.writeConfig({
    agents: { anthropic: loop('anthropic') },
    gateway: { mode: 'replay', cassettes: 'cassettes' },
    seed: 'fixed',
  });
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 0 });
  const { rows, manifest, directory } = project.latest();
  expect(lane.ledger).toHaveLength(calls);
  expect(manifest.gateway).toMatchObject({ mode: 'replay', cassettes: join(project.root, 'cassettes') });
  const [replayed] = rows;
  for (const key of ['outcome', 'input_tokens', 'output_tokens', 'cost_usd', 'model_calls'] as const) {
    expect(replayed?.[key]).toEqual(recorded?.[key]);
  }
  const lines = readLines<{ flags: string[] }>(
    join(directory, 'cases', replayed?.case_id ?? '', 'model-calls.jsonl'),
  );
  for (const { flags } of lines) expect(flags).toContain('replayed');

  const more = await project.whetstone(['run', '--trials', '2']);
  expect(more).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('have no recording') });
});

test('a recording that no longer fits is the harness’s error, with the first difference', async () => {
  const lane = await started((upstream) => ({
    mode: 'record',
    cassettes: 'cassettes',
    upstreams: upstreamsOf(upstream),
  }));
  await project.whetstone(['run'], userEnvironment(lane));
  project.writeTasks([{ ...TASK, prompt: 'Make DONE, please.' }]);
  project.writeConfig({
    agents: { anthropic: loop('anthropic') },
    gateway: { mode: 'replay', cassettes: 'cassettes' },
    seed: 'fixed',
  });
  await project.whetstone(['run']);
  const [row] = project.latest().rows;
  expect(row).toMatchObject({ outcome: 'error', failure_class: 'harness' });
  expect(row?.evidence).toContain('First difference');
});

test('a budget ends a case, and the run’s budget the cases after it', async () => {
  const lane = await started(
    (upstream) => ({
      mode: 'forward',
      upstreams: upstreamsOf(upstream),
      budget: { calls: 2 },
      run_budget: { calls: 3 },
    }),
    { first: loop('anthropic'), second: loop('anthropic') },
  );
  await project.whetstone(['run', '--jobs', '1'], userEnvironment(lane));
  const { rows } = project.latest();
  // The seed chooses which one starts first.
  expect(rows.map(({ failure_class }) => failure_class).sort()).toEqual(['budget', 'harness']);
  const ofCase = rows.find(({ failure_class }) => failure_class === 'budget');
  expect(ofCase?.evidence).toContain('model calls');
  expect(lane.ledger).toHaveLength(3);
});

test('injected faults are distinguished from what the agent did', async () => {
  const lane = await started((upstream) => ({
    mode: 'forward',
    upstreams: upstreamsOf(upstream),
    faults: ['401'],
  }));
  await project.whetstone(['run'], userEnvironment(lane));
  const { rows, manifest } = project.latest();
  expect(rows[0]).toMatchObject({ outcome: 'error', failure_class: 'harness' });
  expect(manifest.gateway).toMatchObject({ faults: ['401'] });
  expect(lane.ledger).toHaveLength(0);
});

test('an agent that bypasses the gateway is named, before and after the run', async () => {
  const lane = await started((upstream) => ({ mode: 'forward', upstreams: upstreamsOf(upstream) }), {
    away: { kind: 'codex-cli', command: ['sh', '-c', 'touch DONE; env > "$1/env"', 'sh', '{output_dir}'] },
    aware: { kind: 'custom', command: ['sh', '-c', 'touch DONE; env > "$1/env"', 'sh', '{output_dir}'] },
  });
  const run = await project.whetstone(['run'], userEnvironment(lane));
  expect(run.stderr).toContain('The agent away does not use the gateway');
  const { rows, directory } = project.latest();
  const environmentOf = (agent: string) => {
    const row = rows.find(({ agent_name: name }) => name === agent);
    return readFileSync(join(directory, 'cases', row?.case_id ?? '', 'output', 'env'), 'utf8');
  };
  expect(environmentOf('away')).not.toContain('WHETSTONE_GATEWAY');
  expect(environmentOf('aware')).toContain('WHETSTONE_GATEWAY_URL=http://127.0.0.1');
  expect(readFileSync(join(directory, 'report.md'), 'utf8')).toContain('away does not use the gateway');
});

test('without a key there is nothing to forward to: exit 2, before anything runs', async () => {
  await started(() => ({ mode: 'forward' }));
  const none = await project.whetstone(['run']);
  expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('ANTHROPIC_API_KEY') });
  expect(existsSync(project.runs)).toBe(false);
});
