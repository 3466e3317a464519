import type { JsonObject } from '@whetstone/events';
import { expect, test } from 'vitest';
import { drivenAgents } from '../native/native-agents.ts';

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
