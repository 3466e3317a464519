/** An MCP server that a host connects (https://modelcontextprotocol.io). `name` is part of the names of its tools. */
export type McpServer =
  /** A program that speaks MCP on its standard streams. It runs in the environment, as commands do. */
  | {
      kind: 'command';
      name: string;
      command: string;
      args?: readonly string[];
      env?: Readonly<Record<string, string>>;
    }
  /** A server that speaks MCP's "streamable HTTP". This process calls it, not the environment. */
  | { kind: 'http'; name: string; url: string; headers?: Readonly<Record<string, string>> };
