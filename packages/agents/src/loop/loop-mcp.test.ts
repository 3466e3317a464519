import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { deriveAgentMetadata, replyText } from '@whetstone/events';
import { createGateway, scriptFromSteps } from '@whetstone/gateway';
import { expect, test, vi } from 'vitest';
import { agentConfig, startAttempt, type TestAttempt } from '../__fixtures__/attempt.ts';
import { commandLines } from '../__fixtures__/command-lines.ts';
import type { Turn } from '../agent.ts';
import { createAgent } from '../create-agent.ts';
import type { McpServer } from '../kit/declared-context.ts';

const PROGRAM = join(import.meta.dirname, '../../../loop/src/mcp/__fixtures__/server-program.ts');

type Call = [tool: string, input?: Record<string, string>];

/** Plays a turn in which the model makes these calls in order, to a server that runs in this mode. */
async function play(attempt: TestAttempt, mode: string, calls: readonly Call[]): Promise<Turn> {
  await using gateway = await createGateway();
  const steps = calls.map(([tool, input = {}]) => ({
    calls: [{ tool: 'native' as const, name: `mcp__fixture__${tool}`, input }],
  }));
  const script = scriptFromSteps('mcp', [...steps, { text: 'Done.' }]);
  await using lane = await gateway.open({ owner: 'a', mode: { kind: 'script', script } });
  const config = agentConfig({ kind: 'loop', loop: { profile: 'gemini' } });
  const agent = await createAgent(config, { environment: {}, hasLanes: true });
  const compiled = process.env.NODE_COMPILE_CACHE ?? '';
  const env = { EDITION: 'second', NODE_NO_WARNINGS: '1', NODE_COMPILE_CACHE: compiled };
  // The last argument identifies the process of the server.
  const args = [PROGRAM, mode, attempt.folder];
  const server: McpServer = { kind: 'command', name: 'fixture', command: process.execPath, args, env };
  const declared = { skills: [], plugins: [], mcpServers: [server], secrets: [] };
  return await agent.send({ text: 'Go.' }, { ...attempt.context, lane, declared });
}

async function expectNothingLeft({ folder }: TestAttempt): Promise<void> {
  const servers = (await commandLines()).filter((line) => line.includes('server-program'));
  expect(servers.filter((line) => line.includes(folder))).toEqual([]);
}

test.concurrent('an MCP server runs in the sandbox and ends with the turn', async () => {
  await using attempt = await startAttempt('');
  const turn = await play(attempt, 'serve', [
    ['echo', { text: 'zebra' }],
    ['crash'],
    ['echo', { text: 'more' }],
  ]);
  expect(turn).toMatchObject({ status: 'completed', exit: { ended: 'exit' } });
  expect(replyText(turn.events)).toBe('Done.');
  expect(deriveAgentMetadata(turn.events).mcp).toMatchObject([
    { server: 'fixture', tool: 'echo', status: 'completed' },
    { server: 'fixture', tool: 'crash', status: 'failed' },
    { server: 'fixture', tool: 'echo', status: 'failed' },
  ]);
  const results = turn.events.filter((event) => event.type === 'action.result').map(({ output }) => output);
  expect(results).toEqual([
    'echo: zebra second',
    expect.stringContaining('it has ended (exit code 3): out of cheese'),
    expect.stringContaining('MCP server fixture has ended'),
  ]);
  await expectNothingLeft(attempt);
});

test.concurrent.each(['garbage', 'silent'])(
  'a server that is %s costs the turn its tools, and no more than its time',
  async (mode) => {
    await using attempt = await startAttempt('', { timeoutMs: mode === 'silent' ? 1_500 : 20_000 });
    const turn = await play(attempt, mode, []);
    expect(deriveAgentMetadata(turn.events).errors[0]).toMatch(/^The MCP server fixture cannot be used: /);
    expect(turn.exit?.ended).toBe(mode === 'silent' ? 'timeout' : 'exit');
    await expectNothingLeft(attempt);
  },
);

test.concurrent.each(['timeout', 'abort'] as const)(
  'a call that waits ends with the %s, and the server with it',
  async (end) => {
    const controller = new AbortController();
    const limits = end === 'abort' ? { signal: controller.signal } : { timeoutMs: 4_000 };
    await using attempt = await startAttempt('', limits);
    const playing = play(attempt, 'serve', [['wait']]);
    await vi.waitUntil(() => existsSync(join(attempt.workdir, 'waiting')), { timeout: 30_000 });
    if (end === 'abort') controller.abort();
    expect(await playing).toMatchObject({ status: 'failed', exit: { ended: end } });
    await expectNothingLeft(attempt);
  },
);
