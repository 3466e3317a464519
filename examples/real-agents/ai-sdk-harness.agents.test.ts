import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineHarnessAgent, type Harness, openSession } from '@whetstone/agents';
import { deriveAgentMetadata } from '@whetstone/events';
import { createGateway, defineScript } from '@whetstone/gateway';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installPackages } from '../../benchmarks/install-packages.ts';
import { cacheFolder } from './install.ts';
import { native } from './play-steps.ts';

const PACKAGES = join(cacheFolder, 'ai-sdk-harness');
const PI = join(PACKAGES, 'node_modules/@ai-sdk/harness-pi/dist/index.js');
const model = 'claude-sonnet-4-5';

let folder: string;
let createPi: (settings: object) => Harness;
beforeAll(async () => {
  if (!existsSync(PI)) installPackages(PACKAGES, ['@ai-sdk/harness-pi@1.0.123']);
  ({ createPi } = await import(pathToFileURL(PI).href));
  folder = mkdtempSync(join(tmpdir(), 'harness-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Pi behind its adapter, as in docs/agents/ai-sdk-harness.md. */
const agent = defineHarnessAgent({
  name: 'pi',
  harness: ({ lane, files }) =>
    createPi({
      agentDir: files.stateDir,
      providers: {
        lane: {
          baseUrl: lane?.baseUrl,
          apiKey: lane?.key,
          api: 'anthropic-messages',
          models: [
            {
              ...{ id: model, name: model, reasoning: false, input: ['text'] },
              ...{ contextWindow: 200_000, maxTokens: 8_192 },
              cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
            },
          ],
        },
      },
    }),
  model: (context) => `lane/${context.model}`,
});

test('the released adapter of Pi works in the sandbox, and a further turn resumes its session', async () => {
  const asked: string[] = [];
  const steps = [
    native('write', { file_path: 'new.txt', content: 'new\n' }),
    native('bash', { command: 'cat new.txt README.md > made.txt; cat made.txt' }),
    native('read', { file_path: 'missing.txt' }),
  ];
  const script = defineScript({ name: 'steps', play: ({ step }) => steps[step] ?? { text: 'Done.' } });
  await using gateway = await createGateway();
  await using lane = await gateway.open({
    owner: 'pi',
    mode: { kind: 'script', script },
    onRequest: ({ body }) => void asked.push(Buffer.from(body).toString()),
  });
  writeFileSync(join(folder, 'README.md'), 'Greetings.\n');
  await using session = await openSession(agent, { folder, model, lane: { ...lane, env: {} } });

  const first = await session.send('My number is 4711. Write.');
  expect(first.status, first.exit?.message).toBe('completed');
  const metadata = deriveAgentMetadata(first.events, first.facts);
  expect(metadata.tools.map(({ name, status }) => `${name} ${status}`)).toEqual([
    ...['write completed', 'bash completed', 'read failed'],
  ]);
  expect(metadata).toMatchObject({
    runtime: 'ai-sdk-harness:pi',
    fileChanges: expect.arrayContaining([{ path: 'new.txt', change: 'added' }]),
  });
  expect(JSON.stringify(metadata.tools[1]?.output)).toContain('Greetings.');
  // The adapter reports zeros, so its usage is unknown. The wire knows it.
  expect(first.usage).toBeUndefined();
  expect(metadata.modelCalls).toBeNull();
  expect(lane.ledger.map(({ wire, status }) => `${wire} ${status}`)).toEqual(
    Array.from({ length: 4 }, () => 'anthropic-messages 200'),
  );

  const second = await session.send('Which number?');
  expect(second.status, second.exit?.message).toBe('completed');
  expect(asked.at(-1)).toContain('My number is 4711.');
  expect(readdirSync(folder).sort()).toEqual(['README.md', 'made.txt', 'new.txt']);
});

test('a time limit ends the turn of the released adapter and its command', async () => {
  const script = defineScript({ name: 'hang', play: () => native('bash', { command: 'sleep 600' }) });
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: 'pi', mode: { kind: 'script', script } });
  await using session = await openSession(agent, {
    folder,
    model,
    lane: { ...lane, env: {} },
    timeoutMs: 3_000,
  });
  const started = performance.now();
  const turn = await session.send('Wait.');
  expect(turn).toMatchObject({ status: 'failed' });
  expect(performance.now() - started).toBeLessThan(30_000);
});
