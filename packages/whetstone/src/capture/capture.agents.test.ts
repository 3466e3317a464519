import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findDrivenAgent } from '@whetstone/agents';
import { createGateway, readRequestPrompt, scriptFromSteps } from '@whetstone/gateway';
import { createModel, LocalExecutionEnvironment, loadProfile, Session } from '@whetstone/loop';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { programs } from '../../../../examples/real-agents/install.ts';
import type { Capture } from './capture.ts';
import { captureAgent } from './capture-agent.ts';
import { compareCaptures, isSame, toolNames } from './compare-captures.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'capture-agents-'));
  vi.stubEnv('PATH', `${programs}${delimiter}${process.env.PATH}`);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const agents = [
  { kind: 'codex-cli', model: 'gpt-5.5', provider: 'openai', tools: ['exec_command', 'apply_patch'] },
  { kind: 'pi', model: 'claude-sonnet-4-5', provider: 'anthropic', tools: ['read', 'bash', 'edit', 'write'] },
] as const;

describe.each(agents)('$kind', ({ kind, model, provider, tools }) => {
  let capture: Capture;
  beforeAll(async () => {
    capture = await captureAgent(findDrivenAgent(kind), { model });
  });

  test('the prompt and the tools are those of its own request, byte for byte', () => {
    expect(capture.agentVersion).toMatch(/^\d+\.\d+\.\d+/);
    expect(toolNames(capture)).toEqual(expect.arrayContaining([...tools]));
    expect(capture.systemPrompt.join('').length).toBeGreaterThan(1000);
    // What is parsed says the same bytes again: nothing was lost on the way.
    expect(JSON.stringify(JSON.parse(capture.request.body))).toBe(capture.request.body);
    for (const text of [...capture.systemPrompt, ...capture.tools]) {
      expect(capture.request.body).toContain(JSON.stringify(text));
    }
  });

  test('another run is the same capture', async () => {
    const again = await captureAgent(findDrivenAgent(kind), { model });
    expect(isSame(compareCaptures(capture, again))).toBe(true);
    expect(again.hash).toBe(capture.hash);
  });

  test('the loop sends that prompt and those tools, but for what runs at the provider', async () => {
    const named = capture.tools.filter(({ name }) => name !== undefined);
    const hosted = capture.tools.filter(({ name }) => name === undefined);
    const executors = named.map(({ name }) => ({
      definition: { name: String(name), description: 'ours', parameters: { type: 'object' } },
      executor: () => 'done',
    }));
    const { profile, unbound } = loadProfile(capture, { tools: executors });
    expect(unbound).toEqual(hosted.map(({ type }) => type));
    const bodies: Uint8Array[] = [];
    await using gateway = await createGateway();
    await using lane = await gateway.open({
      owner: 'a',
      mode: { kind: 'script', script: scriptFromSteps('answer', [{ text: 'OK.' }]) },
      onRequest: ({ body }) => bodies.push(body),
    });
    const model = await createModel({
      provider,
      model: capture.model,
      baseUrl: `${lane.baseUrl}/v1`,
      apiKey: lane.key,
    });
    await using environment = new LocalExecutionEnvironment({ workingDirectory: folder });
    await using session = new Session({ profile, model, environment, config: { maxSubagentDepth: 0 } });
    await session.submit('hello');
    const sent = readRequestPrompt(capture.wire, bodies[0] ?? new Uint8Array());
    expect(sent.systemPrompt).toEqual(capture.systemPrompt);
    const essence = (tool: (typeof sent.tools)[number]) =>
      JSON.stringify([tool.name, tool.description, tool.parameters ?? tool.input_schema ?? tool.format]);
    expect(sent.tools.map(essence)).toEqual(named.map(essence));
  });
});
