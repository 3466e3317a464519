import type { McpServer } from '@whetstone/agents';
import { createGateway, defineScript } from '@whetstone/gateway';
import { expect, test } from 'vitest';
import { openAgent } from './drive-agent.ts';

/** Long enough for a server to fail. */
const script = defineScript({
  name: 'wait',
  play: ({ step }) => (step === 0 ? { calls: [{ tool: 'shell', command: 'sleep 1' }] } : { text: 'Done.' }),
});

/** Codex, Gemini CLI and OpenCode print nothing that names such a server; pi takes none. */
test.each(['claude-code', 'qwen-code', 'copilot'] as const)(
  '%s: a declared MCP server that dies at its start is an error, and the turn goes on',
  async (kind) => {
    await using gateway = await createGateway();
    await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script } });
    const mcpServers: McpServer[] = [
      { kind: 'command', name: 'broken', command: '/bin/false', args: [], env: {} },
      { kind: 'http', name: 'gone', url: 'http://127.0.0.1:9/mcp', headers: {} },
    ];
    await using session = await openAgent({ kind, lane, extra: { mcpServers } });
    const { turn } = await session.turn('Wait.', { timeoutMs: 90_000 });
    expect(turn.status).toBe('completed');
    const errors = turn.events.flatMap((event) => (event.type === 'error' ? [event.message] : []));
    expect(errors.sort()).toEqual([
      expect.stringMatching(/^The MCP server broken did not start: ./),
      expect.stringMatching(/^The MCP server gone did not start: ./),
    ]);
  },
);
