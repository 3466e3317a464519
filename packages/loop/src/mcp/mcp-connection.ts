import { readFileSync } from 'node:fs';
import { type CallToolResult, Client, SdkError, SdkErrorCode, type Tool } from '@modelcontextprotocol/client';
import { messageWithCause } from '@whetstone/errors';
import { raceAbort } from '../control/race-abort.ts';
import { HttpTransport } from './http-transport.ts';
import { type LeftOut, type ListedTools, listTools } from './list-tools.ts';
import type { McpOptions, McpServer } from './mcp-server.ts';
import { ProcessTransport } from './process-transport.ts';

const START_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 60_000;
/** For the farewell to a server that is called over HTTP. */
const GOODBYE_MS = 2_000;
const LONGEST_REASON = 1_000;

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

/** A server whose tools are known. */
export type McpConnection = {
  server: string;
  tools: readonly Tool[];
  leftOut: readonly LeftOut[];
  /** Rejects with an `Error` that says what the model has to know. */
  call(tool: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
};

/** Starts or calls a server, and asks for its tools. Never rejects. */
export async function openMcpConnection(
  server: McpServer,
  { environment, signal, startTimeoutMs = START_TIMEOUT_MS, callTimeoutMs = CALL_TIMEOUT_MS }: McpOptions,
): Promise<McpConnection | { server: string; problem: string }> {
  const { name } = server;
  if (server.kind === 'http' && !URL.canParse(server.url))
    return { server: name, problem: `The MCP server ${name} cannot be used: its url is not a URL` };
  const wire = wireOf(server, environment);
  const client = new Client({ name: 'whetstone-loop', version });
  const deadline = AbortSignal.timeout(startTimeoutMs);
  const giveUp = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    giveUp.throwIfAborted();
    const listing = async (): Promise<ListedTools> => {
      await client.connect(wire.transport, { signal: giveUp });
      return listTools(client, giveUp);
    };
    const listed = await raceAbort(listing(), giveUp, 0);
    if (!listed) throw giveUp.reason;
    return {
      server: name,
      ...listed,
      async call(tool, args, aborted) {
        if (wire.end() !== undefined) throw new Error(`MCP server ${name} has ended: ${wire.end()}`);
        // A tool's answer is text for the model, so it need not fit the tool's output schema, which this definition lacks.
        const toolDefinition = { name: tool, inputSchema: { type: 'object' as const } };
        const options = { signal: aborted, timeout: callTimeoutMs, toolDefinition };
        return await client.callTool({ name: tool, arguments: args }, options).catch((error) => {
          const limit = `it has not answered within ${callTimeoutMs / 1000} s`;
          throw new Error(`MCP server ${name} has failed: ${wire.end() ?? reasonOf(error, limit)}`);
        });
      },
      close: wire.close,
    };
  } catch (error) {
    const limit = `it was not ready within ${startTimeoutMs / 1000} s`;
    const reason = deadline.aborted ? limit : (wire.end() ?? reasonOf(error, limit));
    await wire.close();
    const line = reason.replaceAll(/\s*\n\s*/g, ' ');
    return { server: name, problem: `The MCP server ${name} cannot be used: ${line}` };
  }
}

type Wire = {
  transport: Parameters<Client['connect']>[0];
  end: () => string | undefined;
  close: () => Promise<void>;
};

function wireOf(server: McpServer, environment: McpOptions['environment']): Wire {
  if (server.kind === 'command') {
    const transport = new ProcessTransport(environment, server);
    return { transport, end: () => transport.end, close: () => transport.close() };
  }
  const transport = new HttpTransport(new URL(server.url), { ...server.headers });
  const goodbye = () => transport.terminateSession().catch(() => {});
  return {
    transport,
    end: () => undefined,
    async close() {
      if (transport.sessionId !== undefined) await raceAbort(goodbye(), AbortSignal.timeout(GOODBYE_MS), 0);
      await transport.close();
    },
  };
}

function reasonOf(error: unknown, timedOut: string): string {
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return timedOut;
  return messageWithCause(error).slice(0, LONGEST_REASON);
}
