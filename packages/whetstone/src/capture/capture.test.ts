import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findDrivenAgent } from '@whetstone/agents';
import { createGateway, readRequestPrompt, scriptFromSteps } from '@whetstone/gateway';
import { createModel, LocalExecutionEnvironment, loadProfile, Session } from '@whetstone/loop';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type FakeAgent, installFakePi } from './__fixtures__/fake-pi.ts';
import { captureSchema } from './capture.ts';
import { captureAgent } from './capture-agent.ts';
import { captureFile, newestCapture, storeCapture } from './capture-store.ts';
import { compareCaptures, isSame, toolNames } from './compare-captures.ts';

const tool = (name: string, description = `Does ${name}.`) => ({
  name,
  description,
  input_schema: { type: 'object', properties: { path: { type: 'string' }, a: {} }, required: ['path'] },
});

const agent: FakeAgent = {
  version: '1.2.3',
  system: [
    'You are an agent.\n  Caf\u00e9 \ud83d\ude00 "quoted".\n',
    'Work in {cwd}, notes in {home}/.pi. Today: 2026-01-02.',
  ],
  tools: [tool('read'), tool('bash'), tool('mystery')],
};
const pi = findDrivenAgent('pi');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'capture-test-'));
  vi.stubEnv('PATH', `${join(folder, 'bin')}${delimiter}${process.env.PATH}`);
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
  vi.stubEnv('TMPDIR', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

describe('a capture', () => {
  test('is not taken below instructions of the machine', async () => {
    installFakePi(join(folder, 'bin'), agent);
    const place = join(folder, 'AGENTS.md');
    writeFileSync(place, 'Of the machine.\n');
    await expect(captureAgent(pi)).rejects.toMatchObject({
      code: 'instructions-above-workspace',
      where: place,
    });
    expect(readdirSync(folder).filter((name) => name.startsWith('whetstone-'))).toEqual([]);
  });

  test('holds what the main request says, as it was sent, and nothing of its key', async () => {
    installFakePi(join(folder, 'bin'), agent);
    const capture = await captureAgent(pi, { model: 'claude-x' });
    expect(captureSchema.parse(capture)).toEqual(capture);
    const { kind, agentVersion, model, wire } = capture;
    expect({ kind, agentVersion, model, wire }).toEqual({
      kind: 'pi',
      agentVersion: '1.2.3',
      model: 'claude-x',
      wire: 'anthropic-messages',
    });
    expect(capture.systemPrompt[0]).toBe(agent.system[0]);
    expect(capture.systemPrompt[1]).toMatch(/^Work in \/.*\/workspace, notes in \//);
    expect(JSON.stringify(capture.tools)).toBe(JSON.stringify(agent.tools));
    expect(capture.request.headers).toEqual({ 'user-agent': 'pi/1.2.3', 'anthropic-beta': 'a-beta' });
    const sent = readRequestPrompt('anthropic-messages', Buffer.from(capture.request.body));
    expect(sent).toEqual({ systemPrompt: capture.systemPrompt, tools: capture.tools });
    expect(JSON.stringify(capture)).not.toContain('sk-whetstone');
  });

  test('leaves nothing behind, and another run of the same agent has the same hash', async () => {
    installFakePi(join(folder, 'bin'), agent);
    const first = await captureAgent(pi);
    const second = await captureAgent(pi);
    expect(second.systemPrompt).not.toEqual(first.systemPrompt);
    expect(second.hash).toBe(first.hash);
    expect(isSame(compareCaptures(first, second))).toBe(true);
    expect(readdirSync(folder)).toEqual(['bin']);
  });

  test('is stored only for its user, by agent, version and model', async () => {
    installFakePi(join(folder, 'bin'), agent);
    const capture = await captureAgent(pi, { model: 'some/model' });
    const file = await storeCapture(capture);
    expect(file).toBe(join(folder, 'cache/whetstone/captures/pi/1.2.3/some%2Fmodel.json'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(capture);
    expect(await newestCapture('pi', 'some/model')).toEqual(capture);
    expect(await newestCapture('pi', 'another')).toBeUndefined();
  });

  test('is a profile of the loop, which then sends exactly that prompt and those tools', async () => {
    installFakePi(join(folder, 'bin'), agent);
    const capture = await captureAgent(pi);
    const tools = ['read', 'bash', 'mystery'].map((name) => ({
      definition: { name, description: 'ours', parameters: { type: 'object' } },
      executor: () => 'done',
    }));
    const { profile, unbound } = loadProfile(capture, { tools });
    expect(unbound).toEqual([]);

    const bodies: Uint8Array[] = [];
    await using gateway = await createGateway();
    await using lane = await gateway.open({
      owner: 'a',
      mode: { kind: 'script', script: scriptFromSteps('answer', [{ text: 'OK.' }]) },
      onRequest: ({ body }) => bodies.push(body),
    });
    const model = await createModel({
      provider: 'anthropic',
      model: capture.model,
      baseUrl: `${lane.baseUrl}/v1`,
      apiKey: lane.key,
    });
    await using environment = new LocalExecutionEnvironment({ workingDirectory: folder });
    await using session = new Session({ profile, model, environment, config: { maxSubagentDepth: 0 } });
    await session.submit('hello');
    const sent = readRequestPrompt('anthropic-messages', bodies[0] ?? new Uint8Array());
    expect(sent.systemPrompt).toEqual(capture.systemPrompt);
    // The wire's package adds fields of its own (caching, streaming).
    const definitions = sent.tools.map(({ name, description, input_schema }) => ({
      name,
      description,
      input_schema,
    }));
    expect(JSON.stringify(definitions)).toBe(JSON.stringify(capture.tools));
  });
});

describe('what changed', () => {
  const capture = async (changed: Partial<FakeAgent>) => {
    installFakePi(join(folder, 'bin'), { ...agent, ...changed });
    return captureAgent(pi);
  };

  test('in the prompt is a diff of its lines, without what differs from run to run', async () => {
    const before = await capture({});
    const now = await capture({
      version: '1.3.0',
      system: ['You are an agent.\n  Tea.\n', 'Work in {cwd}, notes in {home}/.pi. Today: 2026-05-06.'],
    });
    expect(now.hash).not.toBe(before.hash);
    const { diffs, ...rest } = compareCaptures(before, now);
    expect(rest).toEqual({ toolsAdded: [], toolsRemoved: [], toolsReordered: false });
    expect(diffs).toHaveLength(1);
    const changedLines = diffs[0]?.split('\n').filter((line) => /^[-+](?![-+])/.test(line));
    expect(changedLines).toEqual(['-  Caf\u00e9 \ud83d\ude00 "quoted".', '+  Tea.']);
    expect(diffs[0]).toContain('pi 1.2.3');
    expect(diffs[0]).toContain('Work in <workspace>');
  });

  test('in the tools is reported by name', async () => {
    const before = await capture({});
    const now = await capture({ tools: [tool('write'), tool('bash'), tool('read', 'Reads\nlines.')] });
    const { diffs, ...rest } = compareCaptures(before, now);
    expect(rest).toEqual({ toolsAdded: ['write'], toolsRemoved: ['mystery'], toolsReordered: true });
    expect(diffs).toHaveLength(1);
    expect(diffs[0]).toContain('tool read');
    expect(diffs[0]).toMatch(/^-description: Does read\.$/m);
    expect(diffs[0]).toMatch(/^\+ {2}lines\.$/m);
  });

  test('is measured against the newest kept capture, of whatever version', async () => {
    const older = await capture({ version: '9.0.0' });
    await storeCapture(older);
    const newer = await capture({ version: '1.0.0' });
    await storeCapture(newer);
    expect((await newestCapture('pi', newer.model))?.agentVersion).toBe('1.0.0');
    await storeCapture({ ...older, capturedAt: '2099-01-01T00:00:00.000Z' });
    expect((await newestCapture('pi', newer.model))?.agentVersion).toBe('9.0.0');
    expect(existsSync(captureFile(newer))).toBe(true);
  });
});

test('definitions are found in the entries of every wire', () => {
  const tools = [
    { type: 'function', function: { name: 'chat' } },
    { functionDeclarations: [{ name: 'one' }, { name: 'two' }], googleSearch: {} },
    { type: 'web_search' },
  ];
  expect(toolNames({ tools })).toEqual(['chat', 'one', 'two', 'googleSearch', 'web_search']);
});

describe('what cannot be captured', () => {
  test('a program that is not installed: a hint how to install it', async () => {
    vi.stubEnv('PATH', join(folder, 'bin'));
    await expect(captureAgent(pi)).rejects.toMatchObject({
      code: 'agent-not-installed',
      exitCode: 2,
      hint: 'Install it: whetstone agents install pi, or npm install -g @earendil-works/pi-coding-agent',
    });
  });

  test('an agent that asks nothing: what it printed', async () => {
    installFakePi(join(folder, 'bin'), { ...agent, isSilent: true });
    await expect(captureAgent(pi)).rejects.toMatchObject({
      code: 'capture-failed',
      message: expect.stringContaining('ended with 0 after 0 requests: pi 1.2.3'),
    });
  });

  test('a program of that name that is another one', async () => {
    installFakePi(join(folder, 'bin'), { ...agent, version: 'unknown' });
    await expect(captureAgent(pi)).rejects.toMatchObject({ code: 'capture-failed', where: 'pi --version' });
  });

  test('an interrupted one rejects with the reason', async () => {
    installFakePi(join(folder, 'bin'), agent);
    const controller = new AbortController();
    controller.abort(new Error('stop it'));
    await expect(captureAgent(pi, { signal: controller.signal })).rejects.toThrow('stop it');
  });
});
