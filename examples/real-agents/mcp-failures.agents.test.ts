import type { McpServer } from '@whetstone/agents';
import type { DrivenAgentKind, ProtocolKind } from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import { createGateway, defineScript } from '@whetstone/gateway';
import { expect, test } from 'vitest';
import { openAgent } from './drive-agent.ts';

/** Long enough for a server to fail. */
const script = defineScript({
  name: 'wait',
  play: ({ step }) => (step === 0 ? { calls: [{ tool: 'shell', command: 'sleep 1' }] } : { text: 'Done.' }),
});

/** All that take MCP servers: pi takes none. */
const AGENTS: [DrivenAgentKind, ProtocolKind?][] = [
  ...[
    'codex-cli',
    'codex-app-server',
    'codex-sdk',
    'claude-code',
    'claude-agent-sdk',
    'opencode-sdk',
    'gemini-cli',
  ],
  ...['qwen-code', 'opencode-cli', 'copilot'],
].map((kind) => [kind as DrivenAgentKind]);
const OVER_ACP = ['codex-cli', 'claude-code', 'gemini-cli', 'qwen-code', 'opencode-cli', 'copilot'] as const;
AGENTS.push(...OVER_ACP.map((kind): [DrivenAgentKind, ProtocolKind] => [kind, 'acp']));

// They wait for their servers more than for the processor.
test.concurrent.each(AGENTS)(
  '%s %s: a declared MCP server that dies at its start is an error, and the turn goes on',
  async (kind, protocol) => {
    await using gateway = await createGateway();
    await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script } });
    const mcpServers: McpServer[] = [
      { kind: 'command', name: 'broken', command: '/bin/false', args: [], env: {} },
      { kind: 'http', name: 'gone', url: 'http://127.0.0.1:9/mcp', headers: {} },
    ];
    // Over the protocol an agent that is held to its workspace has no shell.
    const permissions = protocol && ({ shell: 'allow', filesystem: 'full' } as const);
    const asked = { kind, lane, extra: { mcpServers }, ...present({ protocol, permissions }) };
    await using session = await openAgent(asked);
    const { turn } = await session.turn('Wait.', { timeoutMs: 90_000 });
    expect(turn.status).toBe('completed');
    const errors = turn.events.flatMap((event) => (event.type === 'error' ? [event.message] : []));
    // Over the protocol, Copilot says nothing of an address that does not answer.
    const names = kind === 'copilot' && protocol ? ['broken'] : ['broken', 'gone'];
    expect(errors.sort()).toEqual(
      names.map((name) => expect.stringMatching(new RegExp(`^The MCP server ${name} did not start: .`))),
    );
  },
);
