/**
 * The name of an MCP tool in our events, for agents that join server and tool with one underscore. Only the names of
 * the servers show where a server's name ends. `undefined` for a tool that belongs to none of the servers.
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
