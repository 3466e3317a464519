import type { ExecutionEnvironment } from '../environment/execution-environment.ts';

export type McpOptions = {
  /** Where servers that are commands run. One without `connect` has none. */
  environment: ExecutionEnvironment;
  /** Its abort gives up on servers that are not connected yet. */
  signal?: AbortSignal;
  /** From the start of a server to the list of its tools. Default: 30,000 ms. */
  startTimeoutMs?: number;
  /** For the answer to one call. Default: 60,000 ms. */
  callTimeoutMs?: number;
};
