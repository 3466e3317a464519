import type { ExecutionEnvironment } from '../environment/execution-environment.ts';

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
