/**
 * A tool of an MCP server under the name of the vocabulary, for agents that put nothing but an underscore between server
 * and tool: only the names of the servers tell the two apart. `undefined` for a tool of none of them.
 */
export function mcpToolName(
  tool: string,
  { prefix = '', mcpServers = [] }: { prefix?: string; mcpServers?: readonly string[] | undefined },
): string | undefined {
  const fitting = mcpServers.filter((server) => tool.startsWith(`${prefix}${server}_`));
  const [server] = fitting.sort((a, b) => b.length - a.length);
  return server === undefined
    ? undefined
    : `mcp__${server}__${tool.slice(prefix.length + server.length + 1)}`;
}
