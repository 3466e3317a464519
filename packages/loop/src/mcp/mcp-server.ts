/** An MCP server that a host connects (https://modelcontextprotocol.io). `name` is part of the names of its tools. */
export type McpServer =
  /** A program that speaks MCP on its standard streams. It runs in the environment, like every command. */
  | {
      kind: 'command';
      name: string;
      command: string;
      args?: readonly string[];
      env?: Readonly<Record<string, string>>;
    }
  /** An address that speaks MCP's "streamable HTTP". It is called from this process, past the environment. */
  | { kind: 'http'; name: string; url: string; headers?: Readonly<Record<string, string>> };
