/** An MCP server with one tool, on standard streams. A plugin is copied alone, so it imports nothing of ours. */
import { createInterface } from 'node:readline';

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'cups', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [countCups] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'There are seven cups.' }] }),
};

const countCups = {
  name: 'count_cups',
  description: 'Counts the cups of the tea house.',
  inputSchema: { type: 'object', properties: {} },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method]?.(params);
  const answer = result ? { result } : { error: { code: -32601, message: 'No such method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
