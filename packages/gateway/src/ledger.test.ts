import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addUsage, emptyUsage, type Usage } from '@whetstone/events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, clientOf, generate, postJson, shellTool, stream, userPrompt } from './__fixtures__/clients.ts';
import { createGateway, type Gateway, type LedgerLine, scriptFromSteps } from './index.ts';

let gateway: Gateway;
let directory: string;
beforeAll(async () => {
  gateway = await createGateway();
  directory = await mkdtemp(join(tmpdir(), 'gateway-ledger-'));
});
afterAll(async () => {
  await gateway.close();
  await rm(directory, { recursive: true });
});

const script = scriptFromSteps('steps', [
  { thinking: 'Hm.', text: 'Look.', calls: [{ tool: 'shell', command: 'ls' }] },
]);

test('a line has everything about its call', async () => {
  await using lane = await gateway.open({ owner: 'owner-7', mode: { kind: 'script', script } });
  const before = new Date().toISOString();
  await stream(clientOf('anthropic-messages', lane), {
    prompt: userPrompt('go'),
    tools: [shellTool],
    headers: { 'x-whetstone-agent': 'loop' },
  });
  expect(lane.ledger).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      lane: lane.id,
      owner: 'owner-7',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      wire: 'anthropic-messages',
      method: 'POST',
      path: '/v1/messages',
      agent_family: 'whetstone-loop',
      model_asked: 'claude-sonnet-4-5',
      model_answered: 'claude-sonnet-4-5',
      stream: true,
      status: 200,
      outcome: 'ok',
      usage: { inputTokens: expect.any(Number), outputTokens: 6, reasoningTokens: 1 },
      cost_usd: null,
      price_source: null,
      first_token_ms: null,
      retries: 0,
      faults: [],
      queued_ms: 0,
      first_byte_ms: expect.any(Number),
      total_ms: expect.any(Number),
      tools_offered: ['shell'],
      stripped_tools: [],
      tools_called: ['shell'],
      finish: 'tool-calls',
      request_bytes: expect.any(Number),
      response_bytes: expect.any(Number),
      request_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      flags: [],
      step: 0,
    },
  ]);
  const [line] = lane.ledger;
  expect(line && line.at >= before && line.total_ms >= (line.first_byte_ms ?? Number.NaN)).toBe(true);
});

test('its totals are what the clients saw, and the file and the callback get the same lines', async () => {
  const heard: LedgerLine[] = [];
  const ledgerFile = join(directory, 'calls.jsonl');
  const lane = await gateway.open({
    owner: 'a',
    mode: { kind: 'script', script },
    ledgerFile,
    onCall: (line) => {
      heard.push(line);
      throw new Error('a listener that fails');
    },
  });
  const received = await Promise.all(
    (['openai-responses', 'anthropic-messages'] as const).flatMap((wire) =>
      [generate, stream].map((receive) =>
        receive(clientOf(wire, lane), { prompt: userPrompt(`go ${wire}`), tools: [shellTool] }),
      ),
    ),
  );
  await lane.close();

  const total = lane.ledger.reduce<Usage>(
    (sum, line) => addUsage(sum, line.usage ?? emptyUsage()),
    emptyUsage(),
  );
  const seen = (count: (usage: (typeof received)[number]['usage']) => number | undefined) =>
    received.reduce((sum, { usage }) => sum + (count(usage) ?? 0), 0);
  expect(total.inputTokens).toBe(seen((usage) => usage.inputTokens.noCache));
  expect(total.outputTokens).toBe(seen((usage) => usage.outputTokens.total));
  const written = await readFile(ledgerFile, 'utf8');
  expect(
    written
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(lane.ledger);
  expect(heard).toEqual(lane.ledger);
  expect(lane.ledger).toHaveLength(4);
});

test('it never contains a key, and texts that a client chose stay short', async () => {
  const ledgerFile = join(directory, 'hostile.jsonl');
  const lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script }, ledgerFile });
  const long = 'x'.repeat(5000);
  const tools = Array.from({ length: 2000 }, (_, index) => ({ type: 'function', name: `${long}${index}` }));
  await postJson(lane, '/v1/responses', { model: long, input: long, tools });
  await call(lane, `/v1/${long}?key=${lane.key}`, { headers: { 'x-api-key': lane.key, 'user-agent': long } });
  await lane.close();
  const written = await readFile(ledgerFile, 'utf8');
  expect(written).not.toContain(lane.key);
  expect(written.trimEnd().split('\n')).toHaveLength(2);
  expect((await stat(ledgerFile)).size).toBeLessThan(150_000);
});

test('a ledger file that cannot be opened is a typed error, and no lane opens', async () => {
  const ledgerFile = join(directory, 'missing', 'calls.jsonl');
  const opened = gateway.open({ owner: 'a', mode: { kind: 'script', script }, ledgerFile });
  await expect(opened).rejects.toMatchObject({
    code: 'ledger-unwritable',
    message: expect.stringContaining('missing'),
  });
});

test.skipIf(process.platform !== 'linux')(
  'a ledger file on a full disk is an error when the lane closes',
  { tags: 'linux' },
  async () => {
    const lane = await gateway.open({
      owner: 'a',
      mode: { kind: 'script', script },
      ledgerFile: '/dev/full',
    });
    expect((await call(lane, '/v1/models')).status).toBe(200);
    await expect(lane.close()).rejects.toMatchObject({ code: 'ledger-unwritable' });
  },
);
