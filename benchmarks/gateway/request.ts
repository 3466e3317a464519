export const messagesPath = '/v1/messages';

/** Bytes of a tool result in the middle of a coding agent's conversation. */
const resultBytes = 2000;

/**
 * A coding agent's request in the Anthropic Messages API with about this many bytes: a system prompt, 20 tools, and
 * rounds of tool calls with their results.
 */
export function agentRequest(model: string, bytes: number): Buffer {
  const messages: object[] = [{ role: 'user', content: [{ type: 'text', text: 'Mend the failing test.' }] }];
  const request = {
    model,
    max_tokens: 32_000,
    stream: true,
    system: [{ type: 'text', text: prose(12_000) }],
    tools: Array.from({ length: 20 }, (_, index) => tool(`tool_${index}`)),
    messages,
  };
  let size = JSON.stringify(request).length;
  for (let round = 0; size < bytes; round++) {
    const exchange = toolRound(`toolu_${round}`);
    messages.push(...exchange);
    size += JSON.stringify(exchange).length;
  }
  return Buffer.from(JSON.stringify(request));
}

const tool = (name: string): object => ({
  name,
  description: prose(600),
  input_schema: {
    type: 'object',
    properties: { path: { type: 'string', description: prose(80) }, limit: { type: 'integer' } },
    required: ['path'],
  },
});

const toolRound = (id: string): object[] => [
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Let me look at the file.' },
      { type: 'tool_use', id, name: 'tool_1', input: { path: 'src/index.ts', limit: 200 } },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: prose(resultBytes) }] },
];

/** Text with characters that JSON must escape, like source code. */
function prose(length: number): string {
  const line = '  const value = await read("settings.json"); // keep the order\n';
  return line.repeat(Math.ceil(length / line.length)).slice(0, length);
}
