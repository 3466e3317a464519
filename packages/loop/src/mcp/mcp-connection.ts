import { readFileSync } from 'node:fs';
import {
  type CallToolResult,
  Client,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client';
import { messageWithCause } from '@whetstone/errors';
import { raceAbort } from '../control/race-abort.ts';
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
    const listed = await raceAbort(listTools(client, wire.transport, giveUp), giveUp, 0);
    if (!listed) throw giveUp.reason;
    return {
      server: name,
      tools: listed,
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

async function listTools(
  client: Client,
  transport: Parameters<Client['connect']>[0],
  signal: AbortSignal,
): Promise<Tool[]> {
  await client.connect(transport, { signal });
  // The client logs to the console if it is asked for tools that the server does not have.
  if (!client.getServerCapabilities()?.tools) return [];
  const { tools } = await client.listTools(undefined, { signal });
  return tools;
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
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { ...server.headers } },
    fetch: boundedFetch,
  });
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

const LONGEST_RESPONSE_BYTES = 64 * 1024 * 1024;

/** `fetch` whose responses end with an error when they are too long: a server must not fill the memory. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (!response.body) return response;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > LONGEST_RESPONSE_BYTES)
        throw new Error(`it answered with more than ${LONGEST_RESPONSE_BYTES} bytes`);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}
