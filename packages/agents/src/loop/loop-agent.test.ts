import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { deriveAgentMetadata, replyText } from '@whetstone/events';
import { createGateway, scriptFromSteps } from '@whetstone/gateway';
import { describe, expect, test, vi } from 'vitest';
import { agentConfig, startAttempt, type TestAttempt } from '../__fixtures__/attempt.ts';
import type { Turn } from '../agent.ts';
import type { LoopOptions } from '../config.ts';
import { createAgent } from '../create-agent.ts';
import type { PolicyRequest } from '../policy/policy.ts';
import { loopProfiles } from './loop-profiles.ts';

type Steps = Parameters<typeof scriptFromSteps>[1];

async function play(
  attempt: TestAttempt,
  steps: Steps,
  loop: LoopOptions,
  env: Record<string, string> = {},
): Promise<Turn> {
  await using gateway = await createGateway();
  await using lane = await gateway.open({
    owner: 'a',
    mode: { kind: 'script', script: scriptFromSteps('test', steps) },
  });
  const config = agentConfig({ kind: 'loop', loop, env });
  const agent = await createAgent(config, { environment: {}, hasLanes: true });
  return await agent.send({ text: 'Greet the world.' }, { ...attempt.context, lane });
}

test.concurrent('the loop asks who answers in place of a person', async () => {
  await using attempt = await startAttempt('');
  const asked: PolicyRequest[] = [];
  attempt.context.ask = async (request) => {
    asked.push(request);
    return { decision: 'approved', rule: 'test', answers: { [request.callId]: ['blue'] } };
  };
  const question = { question: 'Which colour?', options: ['red', 'blue'] };
  const steps: Steps = [
    { calls: [{ tool: 'native', name: 'ask_user', input: question }] },
    { text: 'Took it.' },
  ];
  const turn = await play(attempt, steps, { profile: 'anthropic' });
  expect(turn.status).toBe('completed');
  expect(asked).toMatchObject([
    { kind: 'question', questions: [{ text: 'Which colour?', options: ['red', 'blue'] }] },
  ]);
  expect(turn.events).toContainEqual(expect.objectContaining({ type: 'action.result', output: 'blue' }));
});

describe.each(loopProfiles)('the loop with profile %s', (profile) => {
  test.concurrent('edits the workspace and runs commands in the sandbox', async () => {
    await using attempt = await startAttempt('');
    await writeFile(join(attempt.workdir, 'greeting.txt'), 'hello\n');
    const turn = await play(
      attempt,
      [
        { calls: [{ tool: 'read', path: 'greeting.txt' }] },
        { calls: [{ tool: 'edit', path: 'greeting.txt', find: 'hello', replace: 'hello, world' }] },
        {
          calls: [{ tool: 'shell', command: 'echo $HOME $MODE; setsid sleep 600 > /dev/null 2>&1 & exit 4' }],
        },
        { text: 'Greeted.' },
      ],
      { profile },
      { MODE: 'fast' },
    );
    expect(turn).toMatchObject({ status: 'completed', exit: { ended: 'exit' } });
    expect(await readFile(join(attempt.workdir, 'greeting.txt'), 'utf8')).toBe('hello, world\n');
    expect(replyText(turn.events)).toBe('Greeted.');
    expect(turn.events).toEqual(attempt.emitted);
    const metadata = deriveAgentMetadata(turn.events, turn.facts);
    expect(metadata).toMatchObject({
      runtime: 'loop',
      modelCalls: 4,
      usage: turn.usage,
      workingDir: attempt.workdir,
    });
    expect(metadata.tools).toHaveLength(3);
    expect(metadata.commands).toMatchObject([{ exitCode: 4 }]);
    expect(JSON.stringify(metadata.tools)).toContain(`${attempt.sandbox.home} fast`);
    const kinds = (await readFile(attempt.context.files.stdoutFile, 'utf8')).trim().split('\n');
    expect(kinds.map((line) => JSON.parse(line).kind)).toEqual(
      expect.arrayContaining(['SESSION_START', 'SESSION_END']),
    );
  });

  test.concurrent('reaching the limit of tool rounds is a failed turn', async () => {
    await using attempt = await startAttempt('');
    const steps = Array.from({ length: 5 }, () => ({ calls: [{ tool: 'shell', command: 'true' } as const] }));
    const turn = await play(attempt, steps, { profile, maxToolRounds: 2 });
    expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'exit', message: 'tool_rounds' } });
  });

  test.concurrent('the time limit ends the turn', async () => {
    await using attempt = await startAttempt('', { timeoutMs: 300 });
    const turn = await play(attempt, [{ calls: [{ tool: 'shell', command: 'sleep 600' }] }], { profile });
    expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'timeout' } });
  });

  test.concurrent('an abort ends the running command', async () => {
    const controller = new AbortController();
    await using attempt = await startAttempt('', { signal: controller.signal });
    const command = 'touch started; sleep 600; touch survived';
    const running = play(attempt, [{ calls: [{ tool: 'shell', command }] }], { profile });
    await vi.waitUntil(() => existsSync(join(attempt.workdir, 'started')), { timeout: 30_000 });
    controller.abort();
    expect(await running).toMatchObject({ status: 'failed', exit: { ended: 'abort' } });
    expect(existsSync(join(attempt.workdir, 'survived'))).toBe(false);
  });

  test.concurrent('a turn that was aborted before it began makes no model call', async () => {
    await using attempt = await startAttempt('', { signal: AbortSignal.abort() });
    const turn = await play(attempt, [{ text: 'Never said.' }], { profile });
    expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'abort' } });
    expect(replyText(turn.events)).toBe('');
  });

  test.concurrent('a refused key is in the exit of the turn', async () => {
    await using attempt = await startAttempt('');
    const server = createServer((_, response) =>
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}'),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const loop = { profile, baseUrl, apiKeyEnv: 'TEAM_KEY' };
    const config = agentConfig({ kind: 'loop', loop, env: { TEAM_KEY: `\${TEAM_KEY}` } });
    const environment = { TEAM_KEY: 'sk-very-secret-1' };
    const agent = await createAgent(config, { environment, hasLanes: false });
    const turn = await agent.send({ text: 'Do it.' }, attempt.context);
    server.close();
    expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'exit', providerError: 'access' } });
    // No call was answered, so that nobody saw what the turn used: 0 would be false.
    expect(turn).not.toHaveProperty('usage');
    expect(turn).not.toHaveProperty('costUsd');
    expect(turn.telemetry?.evidenceGaps).toEqual(['usage_missing']);
    expect(JSON.stringify(turn)).not.toContain('sk-very-secret-1');
  });

  test.concurrent('commands do not get the key of the model', async () => {
    await using attempt = await startAttempt('');
    const turn = await play(
      attempt,
      [{ calls: [{ tool: 'shell', command: 'env > seen' }] }],
      { profile, apiKeyEnv: 'TEAM_KEY' },
      { TEAM_KEY: 'sk-very-secret-1' },
    );
    expect(turn.status).toBe('completed');
    expect(await readFile(join(attempt.workdir, 'seen'), 'utf8')).not.toContain('TEAM_KEY');
  });
});

test.concurrent('the usage of a turn is unknown where one of its calls ended without saying its own', async () => {
  await using gateway = await createGateway();
  const script = scriptFromSteps('test', [
    { calls: [{ tool: 'shell', command: 'true' }] },
    { text: 'Done.' },
  ]);
  await using lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script } });
  const controller = new AbortController();
  let calls = 0;
  const server = createServer(async (request, response) => {
    calls += 1;
    // The second call never ends: the turn is over before.
    if (calls === 2) return controller.abort();
    const { status, headers, body } = await forward(request, lane.baseUrl);
    return response.writeHead(status, headers).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using attempt = await startAttempt('', { signal: controller.signal });
  const config = agentConfig({
    kind: 'loop',
    loop: { profile: 'anthropic', baseUrl, apiKeyEnv: 'TEAM_KEY' },
  });
  const agent = await createAgent(config, { environment: { TEAM_KEY: lane.key }, hasLanes: false });
  const turn = await agent.send({ text: 'Do it.' }, attempt.context);
  server.close();
  expect(turn.exit?.ended).toBe('abort');
  expect(turn.events.filter(({ type }) => type === 'usage')).toHaveLength(1);
  expect(turn).not.toHaveProperty('usage');
  expect(turn.telemetry?.evidenceGaps).toEqual(['usage_missing']);
});

test.concurrent('the usage of a turn holds that of an empty answer, which its provider reported', async () => {
  await using gateway = await createGateway();
  const script = scriptFromSteps('test', [{ text: 'Done.' }]);
  await using lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script } });
  const usage = { input_tokens: 1000, output_tokens: 3 };
  const empty = [
    {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage },
    },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  let calls = 0;
  const server = createServer(async (request, response) => {
    calls += 1;
    if (calls === 1) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(
        empty.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
      );
    }
    const { status, headers, body } = await forward(request, lane.baseUrl);
    return response.writeHead(status, headers).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using attempt = await startAttempt('');
  const loop = { profile: 'anthropic' as const, baseUrl, apiKeyEnv: 'TEAM_KEY' };
  const config = agentConfig({ kind: 'loop', loop });
  const agent = await createAgent(config, { environment: { TEAM_KEY: lane.key }, hasLanes: false });
  const turn = await agent.send({ text: 'Do it.' }, attempt.context);
  server.close();
  expect(turn.status).toBe('completed');
  expect(turn.usage?.inputTokens).toBeGreaterThan(1000);
  expect(turn.telemetry?.evidenceGaps).toEqual([]);
});

/** Sends a request on, and takes the whole answer. */
async function forward(request: IncomingMessage, baseUrl: string) {
  const answer = await fetch(`${baseUrl}${request.url}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': `${request.headers['x-api-key']}` },
    body: Buffer.concat(await Array.fromAsync(request)),
  });
  const headers = { 'content-type': answer.headers.get('content-type') ?? '' };
  return { status: answer.status, headers, body: await answer.text() };
}

test.concurrent('without a gateway and a key, creating the agent fails with an error that names the variable', async () => {
  const config = agentConfig({ kind: 'loop', loop: { profile: 'openai' } });
  await expect(createAgent(config, { environment: {}, hasLanes: false })).rejects.toMatchObject({
    code: 'agent-key-missing',
    exitCode: 2,
    message: expect.stringContaining('OPENAI_API_KEY'),
  });
});
