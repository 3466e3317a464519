import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createJobs } from '../mcp/jobs.ts';
import { createMcpServer } from '../mcp/server.ts';
import { escapedJson } from '../report/json.ts';
import { onEndSignal } from './interrupt.ts';
import { locateRun } from './report.ts';
import type { Streams } from './streams.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/whetstone.js', import.meta.url));

/**
 * Serves the tools of a measurement to a coding agent on stdin and stdout, until stdin ends or a signal comes. Jobs end with
 * it.
 */
export async function mcpCommand(
  { json = false }: { json?: boolean },
  { stdout }: Pick<Streams, 'stdout'>,
): Promise<number> {
  if (json) {
    const server = { command: process.execPath, args: [PROGRAM, 'mcp'], cwd: process.cwd() };
    stdout.write(escapedJson({ mcpServers: { whetstone: server } }));
    return 0;
  }
  await using jobs = createJobs([process.execPath, PROGRAM], process.cwd());
  const server = createMcpServer({ jobs, locateRun: (reference) => locateRun(reference, undefined) });
  const ended = Promise.withResolvers<void>();
  using _ = onEndSignal(() => ended.resolve());
  void once(process.stdin, 'end').then(() => ended.resolve());
  server.server.onclose = () => ended.resolve();
  await server.connect(new StdioServerTransport());
  await ended.promise;
  await server.close();
  process.stdin.pause();
  return 0;
}
