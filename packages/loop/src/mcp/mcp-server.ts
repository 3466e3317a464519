import type { ExecutionEnvironment } from '../environment/execution-environment.ts';

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

/** Options of `connectMcpServers`. */
export type McpOptions = {
  /** Where servers that are commands run. Without `connect` it cannot run any. */
  environment: ExecutionEnvironment;
  /** Its abort ends the wait for servers that are not connected yet. */
  signal?: AbortSignal;
  /** Milliseconds from the start of a server to the list of its tools. Default 30,000. */
  startTimeoutMs?: number;
  /** Milliseconds for the answer to one call. Default 60,000. */
  callTimeoutMs?: number;
};
