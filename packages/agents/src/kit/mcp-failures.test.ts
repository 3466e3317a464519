import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@whetstone/events';
import { createProcessSandboxProvider, type Sandbox } from '@whetstone/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acpAgents } from '../native/acp/agents.ts';
import { drivenAgents } from '../native/native-agents.ts';
import { type McpLog, openMcpLog } from './mcp-failures.ts';

const NOT_THERE = 'MCP server process exited before completing the MCP initialize handshake (exit code 1)';

/** As the released agents print it (mcp-failures.agents.test.ts). */
const items: Partial<Record<keyof typeof drivenAgents, JsonObject>> = {
  'claude-code': {
    ...{ type: 'system', subtype: 'init', session_id: 's', claude_code_version: '2.1.330' },
    mcp_servers: [
      { name: 'broken', status: 'failed', source: 'dynamic' },
      { name: 'there', status: 'connected' },
    ],
  },
  'qwen-code': {
    ...{ type: 'system', subtype: 'init', session_id: 's', qwen_code_version: '0.24.4' },
    mcp_servers: [
      { name: 'broken', status: 'disconnected' },
      { name: 'there', status: 'connected' },
    ],
  },
  copilot: {
    ...{ type: 'session.mcp_server_status_changed', id: '1', timestamp: '2026-11-22T22:50:51.618Z' },
    data: { serverName: 'broken', status: 'failed', error: NOT_THERE },
  },
};

test.each(Object.entries(items))('%s: a server that did not start is an error', (kind, item) => {
  const events = drivenAgents[kind as keyof typeof drivenAgents].stream.open({}, 'new').map(item) ?? [];
  const errors = events.filter(({ type }) => type === 'error');
  const why = { 'claude-code': 'failed', 'qwen-code': 'disconnected' }[kind] ?? NOT_THERE;
  expect(errors).toEqual([
    expect.objectContaining({ message: `The MCP server broken did not start: ${why}` }),
  ]);
});

const RUST = 'codex_mcp::rmcp_client: MCP server startup failed server_name="broken" error=';
const at = (time: string) => `${time} WARN `;
/** A line of the log of each agent whose stream does not say it, as the released agents write it. */
const logs: [string, McpLog | undefined, string, string][] = [
  ['codex-cli', drivenAgents['codex-cli'].mcpLog, `${RUST}connection closed`, 'connection closed'],
  ['codex-sdk', drivenAgents['codex-sdk'].mcpLog, `${RUST}connection closed`, 'connection closed'],
  [
    'gemini-cli',
    drivenAgents['gemini-cli'].mcpLog,
    "[LOG] [MCP error] Error during discovery for MCP server 'broken': MCP error -32000: Connection closed",
    'MCP error -32000: Connection closed',
  ],
  [
    'opencode-cli',
    drivenAgents['opencode-cli'].mcpLog,
    'level=WARN message="server unavailable" key=broken type=local status=failed',
    'failed',
  ],
  [
    'qwen-code over ACP',
    acpAgents['qwen-code'].mcpLog,
    'Warning: MCP server(s) failed to start: broken. Continuing with built-in tools and others.',
    'no reason was given',
  ],
  [
    'copilot over ACP',
    acpAgents.copilot.mcpLog,
    `MCP server connection failed {"server_name":"broken","raw_error":"${NOT_THERE}"}`,
    NOT_THERE,
  ],
];

describe('a log', () => {
  let folder: string;
  let sandbox: Sandbox;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mcp-log-'));
    const provider = await createProcessSandboxProvider({ scratch: folder });
    sandbox = await provider.start({ workdir: folder, env: {} });
  });
  afterAll(async () => {
    await sandbox.stop();
    await rm(folder, { recursive: true });
  });

  test.each(logs)(
    'of %s: a server that did not start is an error, once per turn',
    async (_, log, line, why) => {
      if (!log) throw new Error('The agent has no log.');
      const path = log.file ?? 'stderr.log';
      const stderrFile = join(sandbox.home, 'stderr.log');
      const earlier = `${at('2026-01-01T00:00:00.000Z')}${line.replace('broken', 'earlier')}\n`;
      await sandbox.writeFiles({ [`~/${path}`]: earlier });
      const read = await openMcpLog(log, { sandbox, stderrFile });
      const now = `${at('2099-01-01T00:00:00.000Z')}${line}\n`;
      await sandbox.writeFiles({ [`~/${path}`]: `${earlier}${now}${now}` });
      expect(await read()).toEqual([
        { type: 'error', message: `The MCP server broken did not start: ${why}` },
      ]);
    },
  );
});

test.each<[string, JsonObject]>([
  [
    'codex-acp',
    {
      ...{ sessionUpdate: 'tool_call', kind: 'other', title: 'mcp__broken__startup', status: 'failed' },
      toolCallId: 'mcp_startup.broken.31e70236-67fd-4260-b15d-85bde0eb8ca3',
      content: [{ type: 'content', content: { type: 'text', text: NOT_THERE } }],
    },
  ],
  [
    'claude-agent-acp',
    {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: `**MCP server "broken" failed to start:** ${NOT_THERE}` },
    },
  ],
])('%s: its own report of a server that did not start is an error', (_, update) => {
  const item = { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update } };
  const stream = acpAgents['codex-cli'].stream.open({}, 'new');
  const events = stream.map(item) ?? [];
  expect(events.slice(1)).toEqual([
    { type: 'error', message: `The MCP server broken did not start: ${NOT_THERE}` },
  ]);
  expect(stream.end?.()).toEqual([]);
});
