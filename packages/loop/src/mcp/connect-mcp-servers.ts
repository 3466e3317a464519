import type { RegisteredTool } from '../tools/tool.ts';
import type { McpOptions, McpServer } from './mcp-server.ts';

export type McpConnections = AsyncDisposable & {
  /** The tools, named `mcp__SERVER__TOOL`, for `profile.toolRegistry`, without those that a server lists later. */
  tools: readonly RegisteredTool[];
  /** Servers and tools that cannot be used, and why, in one line each. A text may be the server's own. */
  problems: readonly { server: string; message: string }[];
  /** Disconnects, and ends every program that was started. May be called any number of times. */
  close(): Promise<void>;
};

/**
 * Connects MCP servers, all at the same time. A server that does not start, or does not speak MCP, is one of the
 * `problems`; the others are connected anyway. Close the connections after the session.
 */
export async function connectMcpServers(
  servers: readonly McpServer[],
  options: McpOptions,
): Promise<McpConnections> {
  if (servers.length === 0)
    return { tools: [], problems: [], close: async () => {}, [Symbol.asyncDispose]: async () => {} };
  // Loaded on use: most sessions have no servers.
  const { openMcpConnection } = await import('./mcp-connection.ts');
  const { createMcpTools } = await import('./mcp-tools.ts');
  const opened = await Promise.all(servers.map((server) => openMcpConnection(server, options)));
  const connections = opened.filter((result) => 'close' in result);
  const unopened = opened.filter((result) => 'problem' in result);
  const { tools, problems } = await createMcpTools(connections);
  const close = async () => void (await Promise.all(connections.map((connection) => connection.close())));
  return {
    tools,
    problems: [...unopened.map(({ server, problem: message }) => ({ server, message })), ...problems],
    close,
    [Symbol.asyncDispose]: close,
  };
}
